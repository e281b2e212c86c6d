"""Calls that clients come back for: tasks, as the protocol calls them."""

import time
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from contextd import detached, operations
from contextd.callers import Caller
from contextd.conversations import Detached
from contextd.detached import Status
from contextd.errors import Busy, NotFound
from contextd.mcp.answers import TASKS
from contextd.models import DetachedCall
from contexts import tokens
from tests.plain_http import ENVELOPE, PREFIX, answer_of, modern, open_session, rpc

pytestmark = pytest.mark.usefixtures("transactional_db")

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}}, "extensions": {TASKS: {}}}
SECONDS = 10


def ask(
    http: httpx2.Client,
    method: str,
    headers: Any = None,
    capabilities: Any = CAPABILITIES,
    **params: Any,
) -> Any:
    """Return the answer that a client with support for tasks receives."""
    request = modern(method, **params)
    request["json"]["params"]["_meta"] = {**ENVELOPE, f"{PREFIX}clientCapabilities": capabilities}
    if "taskId" in params:
        request["headers"]["Mcp-Name"] = params["taskId"]
    request["headers"] |= headers or {}
    response = http.post("/mcp", **request).json()
    return response.get("result") or response["error"]


def begin(http: httpx2.Client, **arguments: str) -> str:
    handle = ask(http, "tools/call", name="door_errand", arguments=arguments)
    assert (handle["resultType"], handle["status"]) == ("task", "working")
    task_id: str = handle["taskId"]
    return task_id


def wait_for(http: httpx2.Client, task_id: str, *statuses: str) -> Any:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        task = ask(http, "tasks/get", taskId=task_id)
        if task["status"] in statuses:
            return task
        time.sleep(0.05)
    raise AssertionError(task)


def test_a_client_polls_for_the_result(http: httpx2.Client) -> None:
    task = wait_for(http, begin(http, text="home"), "completed")

    assert task["result"]["structuredContent"] == {"text": "home", "aside": "alone", "redacted": 0}
    assert task["result"]["resultType"] == "complete"


def test_a_client_that_does_not_know_tasks_waits(http: httpx2.Client) -> None:
    call = {"name": "door_errand", "arguments": {"text": "home"}}
    without = http.post("/mcp", **modern("tools/call", **call)).json()["result"]
    before = http.post("/mcp", json=rpc("tools/call", call), headers=open_session(http))

    assert without["structuredContent"]["aside"] == "waited for"
    assert answer_of(before)["result"]["structuredContent"]["aside"] == "waited for"


def test_questions_are_asked_when_the_client_polls(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="ask")
    asked = wait_for(http, task_id, "input_required")["inputRequests"]
    reply = {"action": "accept", "content": {"sure": True, "name": "Ann"}}

    ask(http, "tasks/update", taskId=task_id, inputResponses={"agreement": reply})

    assert asked["agreement"]["params"]["message"] == "Are you sure?"
    assert wait_for(http, task_id, "completed")["result"]["isError"] is False


def test_a_person_may_decline_later(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="ask")
    wait_for(http, task_id, "input_required")

    ask(http, "tasks/update", taskId=task_id, inputResponses={"agreement": {"action": "decline"}})

    result = wait_for(http, task_id, "completed")["result"]
    assert result["isError"] is True
    assert "did not agree" in result["content"][0]["text"]


def test_a_reply_that_cannot_be_stored_is_invalid(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="ask")
    wait_for(http, task_id, "input_required")
    reply = {"action": "accept", "content": {"sure": True, "name": "\0"}}

    error = ask(http, "tasks/update", taskId=task_id, inputResponses={"agreement": reply})

    assert error["code"] == -32602
    assert error["message"] == "[validation] replies must not contain a NUL character"
    ask(http, "tasks/cancel", taskId=task_id)


def test_a_reply_must_have_the_form_of_one(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="ask")
    wait_for(http, task_id, "input_required")

    error = ask(http, "tasks/update", taskId=task_id, inputResponses={"agreement": 5})

    assert error["code"] == -32602
    ask(http, "tasks/cancel", taskId=task_id)


def test_a_reply_to_no_question_counts_for_nothing(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="ask")
    wait_for(http, task_id, "input_required")

    given = ask(http, "tasks/update", taskId=task_id, inputResponses={"other": {"ignored": True}})

    assert given["resultType"] == "complete"
    assert ask(http, "tasks/get", taskId=task_id)["status"] == "input_required"
    ask(http, "tasks/cancel", taskId=task_id)


def test_a_task_counts_once_against_the_rate(http: httpx2.Client) -> None:
    begun = ask(http, "tools/call", name="door_once", arguments={})

    task = wait_for(http, begun["taskId"], "completed", "failed")

    assert task["result"]["structuredContent"]["text"] == "done"


def test_a_question_to_a_client_that_cannot_answer_fails_the_task(http: httpx2.Client) -> None:
    def asked(method: str, **params: Any) -> Any:
        return ask(http, method, capabilities={"extensions": {TASKS: {}}}, **params)

    arguments = {"text": "home", "aside": "ask"}
    task_id = asked("tools/call", name="door_errand", arguments=arguments)["taskId"]

    task = wait_for(http, task_id, "completed", "failed")

    assert (task["status"], task["error"]["code"]) == ("failed", -32021)
    assert task["error"]["data"]["requiredCapabilities"] == {"elicitation": {}}


def test_it_can_be_cancelled(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="linger")

    ask(http, "tasks/cancel", taskId=task_id)

    assert ask(http, "tasks/get", taskId=task_id)["status"] == "cancelled"
    assert "result" not in ask(http, "tasks/get", taskId=task_id)


def test_a_task_is_unknown_to_other_principals(http: httpx2.Client) -> None:
    task_id = begin(http, text="home", aside="linger")
    _, secret = tokens.create(User.objects.create_user("bob"), name="test")
    bob = {"Authorization": f"Bearer {secret}"}

    answers = [
        ask(http, method, taskId=task_id, headers=bob)
        for method in ("tasks/get", "tasks/cancel", "tasks/update")
    ]

    assert {answer["code"] for answer in answers} == {-32602}
    assert ask(http, "tasks/get", taskId=task_id)["status"] == "working"
    ask(http, "tasks/cancel", taskId=task_id)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/update"])
def test_no_task_has_a_nul_in_its_id(http: httpx2.Client, method: str) -> None:
    encoded = {"Mcp-Name": "=?base64?AA==?="}

    assert ask(http, method, taskId="\0", headers=encoded)["code"] == -32602


def test_sessions_have_no_tasks(http: httpx2.Client) -> None:
    request = rpc("tasks/get", {"taskId": "x"})

    answer = answer_of(http.post("/mcp", json=request, headers=open_session(http)))

    assert answer["error"]["code"] == -32601


def test_no_credential_is_stored_in_arguments(http: httpx2.Client) -> None:
    task = wait_for(http, begin(http, text="password=hunter2hunter2"), "completed")

    ended = DetachedCall.objects.get()
    assert (ended.arguments, ended.replies) == ({}, {})
    assert task["result"]["structuredContent"]["redacted"] == 1


def test_an_admin_sees_calls_without_their_content(
    http: httpx2.Client, admin_client: Client
) -> None:
    task_id = begin(http, text="xylophone")
    wait_for(http, task_id, "completed")

    listed = admin_client.get("/admin/contextd/detachedcall/")
    shown = admin_client.get(f"/admin/contextd/detachedcall/{task_id}/change/")
    added = admin_client.get("/admin/contextd/detachedcall/add/")
    deleted = admin_client.post(f"/admin/contextd/detachedcall/{task_id}/delete/", {"post": "yes"})

    assert "door_errand" in listed.content.decode()
    assert task_id in shown.content.decode()
    assert "xylophone" not in shown.content.decode()
    assert (added.status_code, deleted.status_code) == (403, 403)


def test_a_call_whose_process_has_ended_has_failed(caller: Caller) -> None:
    call = detached.begin(caller, operations.get("status"), Detached(), {})
    DetachedCall.objects.update(leased_until=timezone.now())

    found = detached.find(caller, call.pk)

    assert (found.status, found.outcome) == (Status.FAILED, detached.LOST)


def test_a_lease_is_renewed_until_the_call_is_cancelled(caller: Caller) -> None:
    kept, cancelled = (
        detached.begin(caller, operations.get("status"), Detached(), {}) for _ in range(2)
    )
    detached.cancel(caller, cancelled.pk)

    assert detached.renew([kept.pk, cancelled.pk]) == {cancelled.pk}


def test_a_cancelled_call_stays_cancelled(caller: Caller) -> None:
    call = detached.begin(caller, operations.get("status"), Detached(), {})
    detached.cancel(caller, call.pk)

    detached.end(call.pk, Status.COMPLETED, {})

    assert detached.find(caller, call.pk).status == Status.CANCELLED


def test_one_principal_has_a_limited_number_of_open_tasks(caller: Caller) -> None:
    for _ in range(detached.MAX_OPEN_PER_PRINCIPAL):
        detached.begin(caller, operations.get("status"), Detached(), {})

    with pytest.raises(Busy):
        detached.begin(caller, operations.get("status"), Detached(), {})


def test_expired_tasks_are_deleted(caller: Caller) -> None:
    call = detached.begin(caller, operations.get("status"), Detached(), {})
    DetachedCall.objects.update(expires_at=timezone.now())

    assert detached.forget_expired() == 1
    with pytest.raises(NotFound):
        detached.find(caller, call.pk)


def test_arguments_of_a_call_whose_process_has_ended_are_deleted(caller: Caller) -> None:
    sent = {"password": "hunter2"}
    lost, working = (
        detached.begin(caller, operations.get("status"), Detached(), {}) for _ in range(2)
    )
    DetachedCall.objects.update(arguments=sent, replies=sent)
    DetachedCall.objects.filter(pk=lost.pk).update(leased_until=timezone.now())

    detached.forget_expired()

    lost.refresh_from_db()
    working.refresh_from_db()
    assert (lost.status, lost.arguments, lost.replies) == (Status.FAILED, {}, {})
    assert (working.status, working.arguments, working.replies) == (Status.WORKING, sent, sent)
