"""Two web processes on one database and Valkey: any of them serves any session."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from redis import Redis

from contextd import changes
from contextd.models import Session
from contexts.models import Context
from tests.contextd.shared_sessions import (
    LIST_CHANGED,
    LISTEN,
    LISTS_CHANGED,
    LOGGED,
    PROMPTS_CHANGED,
    STOP_SECONDS,
    UPDATED,
    client_of,
    last_event_in,
    listening,
    methods_of,
    one,
    other,
    other_server,
    reply,
    secret_of,
    skip_missed,
    status,
)
from tests.plain_http import (
    PREFIX,
    answer_of,
    events,
    initialize,
    open_session,
    rpc,
)
from tests.server import environment_of_processes, eventually, free_port, web_process

__all__ = ["one", "other", "other_server"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_session_opened_at_one_process_is_used_at_the_other(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)

    call = rpc("tools/call", {"name": "door_whoami"})
    caller = answer_of(other.post("/mcp", json=call, headers=session))["result"]

    row = Session.objects.get(pk=session["Mcp-Session-Id"])
    assert caller["structuredContent"]["connection"] == row.pk
    assert caller["structuredContent"]["client"] == "plain/1"
    assert (row.principal, row.context, row.protocol_version) == (
        "anonymous",
        "default",
        "2025-11-25",
    )


def test_concurrent_requests_restore_a_session_once(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(partial(status, other, session), range(8)))

    assert answers == [200] * 8


def test_the_end_at_one_process_is_the_end_at_the_other(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)
    assert status(other, session) == 200

    assert other.delete("/mcp", headers=session).status_code == 200

    assert status(other, session) == 404
    assert eventually(lambda: status(one, session) == 404)
    assert not Session.objects.filter(pk=session["Mcp-Session-Id"]).exists()


def test_an_admin_ends_a_session_at_every_process(
    one: httpx2.Client, other: httpx2.Client, admin_client: Client
) -> None:
    session = open_session(one)
    assert status(other, session) == 200

    admin_client.post(
        "/admin/contextd/session/",
        {"action": "end_selected", "_selected_action": [session["Mcp-Session-Id"]]},
    )

    assert eventually(lambda: status(one, session) == status(other, session) == 404)


def test_a_foreign_token_finds_no_session_at_the_other_process(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    ann, bob = ({"Authorization": f"Bearer {secret_of(name)}"} for name in ("ann", "bob"))
    session = open_session(one, ann)

    assert status(other, {**session, **bob}) == 404
    assert status(other, {"Mcp-Session-Id": session["Mcp-Session-Id"]}) == 404
    assert status(other, session) == 200
    assert status(other, {**session, **bob}) == 404


def test_a_session_is_not_found_in_another_context(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    Context.objects.create(name="shop", is_open=True)
    session = open_session(one, {"Authorization": f"Bearer {secret_of('ann')}"})

    assert status(other, {**session, "X-MCP-Context": "shop"}) == 404
    assert status(other, session) == 200


def test_a_session_cannot_be_initialized_again(one: httpx2.Client) -> None:
    session = open_session(one)

    response = one.post("/mcp", json=initialize("2025-06-18"), headers=session)

    assert response.status_code == 400
    assert "omit the session id" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}},
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {"experimental": {"x": {"y": "z" * 20_000}}},
            "clientInfo": {"name": "a", "version": "1"},
        },
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a\0b", "version": "1"},
        },
    ],
)
def test_an_invalid_handshake_opens_no_session(one: httpx2.Client, parameters: Any) -> None:
    response = one.post("/mcp", json=rpc("initialize", parameters, id=7))

    assert response.status_code == 400
    assert (response.json()["id"], response.json()["error"]["code"]) == (7, -32602)
    assert not Session.objects.exists()


def test_a_refused_handshake_leaves_no_session(one: httpx2.Client) -> None:
    response = one.post(
        "/mcp", json=initialize("2025-06-18"), headers={"Accept": "application/json"}
    )

    assert response.status_code == 406
    assert eventually(lambda: not Session.objects.exists())


def test_what_a_call_asks_is_answered_through_the_other_process(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)

    with one.stream("POST", "/mcp", json=rpc("door/ask", id=5), headers=session) as stream:
        messages = events(stream)
        question = next(messages)
        answered = other.post("/mcp", json=reply(question, "Ann"), headers=session)
        result = next(messages)

    assert question["method"] == "elicitation/create"
    assert answered.status_code == 202
    assert (result["id"], result["result"]["content"]) == (5, {"name": "Ann"})


def test_a_foreign_token_answers_nothing_through_the_other_process(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one, {"Authorization": f"Bearer {secret_of('ann')}"})
    bob = {**session, "Authorization": f"Bearer {secret_of('bob')}"}

    with one.stream("POST", "/mcp", json=rpc("door/ask", id=5), headers=session) as stream:
        messages = events(stream)
        question = next(messages)
        refused = other.post("/mcp", json=reply(question, "Bob"), headers=bob)
        other.post("/mcp", json=reply(question, "Ann"), headers=session)
        result = next(messages)

    assert refused.status_code == 404
    assert result["result"]["content"] == {"name": "Ann"}


def test_a_call_is_cancelled_through_the_other_process(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}

    with one.stream("POST", "/mcp", json=rpc("door/wait", id=9), headers=session) as stream:
        cancelled = other.post("/mcp", json=cancel, headers=session)
        result = next(events(stream))

    assert cancelled.status_code == 202
    assert (result["id"], result["error"]["message"]) == (9, "Request cancelled")


def test_a_message_reaches_the_process_with_the_stream_of_the_client(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)

    with listening(other, session) as messages:
        one.post("/mcp", json=rpc("door/log"), headers=session)
        message = next(one for one in messages if one["method"] == LOGGED)

    assert message["params"]["data"] == "from elsewhere"


@pytest.mark.parametrize("again", ["one", "other"])
def test_a_client_that_listens_again_listens_there_only(
    one: httpx2.Client, other: httpx2.Client, again: str
) -> None:
    """Its first connection may be broken, which the server does not notice."""
    session = open_session(one)

    with (
        listening(one, session) as before,
        listening({"one": one, "other": other}[again], session) as after,
    ):
        list(before)  # it ends
        assert {next(after)["method"] for _ in LISTS_CHANGED} == LISTS_CHANGED
        changes.announce("tools")
        assert LIST_CHANGED in methods_of(after)


def test_a_client_that_resumes_at_the_same_process_hears_what_it_missed_and_what_is_new(
    one: httpx2.Client,
) -> None:
    session = open_session(one)

    with one.stream("GET", "/mcp", headers=session) as broken:
        lines = broken.iter_lines()
        changes.announce("tools")
        resumed = {**session, "Last-Event-ID": last_event_in(lines)}
        changes.announce("prompts")
        assert PROMPTS_CHANGED in next(line for line in lines if PROMPTS_CHANGED in line)
        with listening(one, resumed) as messages:
            assert PROMPTS_CHANGED in methods_of(messages)
            changes.announce("tools")
            assert LIST_CHANGED in methods_of(messages)


def test_a_change_reaches_the_clients_of_every_process_and_version(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    with (
        listening(one, open_session(one)) as here,
        listening(other, open_session(one)) as there,
        other.stream("POST", "/mcp", **LISTEN) as stream,
    ):
        skip_missed(there, 3)
        newest = events(stream)
        assert next(newest)["method"] == "notifications/subscriptions/acknowledged"
        changes.announce("tools")
        received = [next(messages) for messages in (here, there, newest)]

    assert [message["method"] for message in received] == [LIST_CHANGED] * 3
    assert received[2]["params"]["_meta"] == {f"{PREFIX}subscriptionId": 1}


def test_a_changed_resource_is_announced_to_subscribed_sessions(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    subscribed, uninterested = open_session(one), open_session(one)
    uri = "checkpoint://recent"
    subscribe = rpc("resources/subscribe", {"uri": uri})
    assert "result" in answer_of(one.post("/mcp", json=subscribe, headers=subscribed))

    with listening(other, subscribed) as messages, listening(other, uninterested) as unwanted:
        skip_missed(messages, 4)
        skip_missed(unwanted, 3)
        changes.announce("resources", uri)
        changes.announce("tools")
        # Changes of earlier tests may be announced here too.
        updated = next(message for message in messages if message["method"] == UPDATED)
        others = [*takewhile(lambda method: method != LIST_CHANGED, methods_of(unwanted))]

    assert updated["params"] == {"uri": uri}
    assert UPDATED not in others


def test_a_burst_of_changes_is_announced_once(one: httpx2.Client) -> None:
    with listening(one, open_session(one)) as messages:
        for _ in range(5):
            changes.announce("tools")
        first = next(messages)["method"]
        changes.announce("prompts")
        after = next(messages)["method"]

    assert (first, after) == (LIST_CHANGED, "notifications/prompts/list_changed")


def test_after_an_outage_of_the_bus_all_lists_are_announced(one: httpx2.Client) -> None:
    valkey: Any = Redis.from_url(settings.REDIS_URL)

    with listening(one, open_session(one)) as messages:
        valkey.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        methods = {next(messages)["method"] for _ in range(3)}

    assert methods == LISTS_CHANGED


def test_calls_end_with_a_killed_process_and_sessions_remain(
    other: httpx2.Client, tmp_path: Path
) -> None:
    port, environment = free_port(), environment_of_processes()
    with web_process(environment, tmp_path / "killed", port) as server, client_of(server) as killed:
        session = open_session(killed)
        with killed.stream("POST", "/mcp", json=rpc("door/ask"), headers=session) as stream:
            messages = events(stream)
            question = next(messages)
            os.kill(server.pid, signal.SIGKILL)
            with pytest.raises(httpx2.TransportError):
                next(messages)

    too_late = other.post("/mcp", json=reply(question, "Ann"), headers=session)
    assert too_late.status_code == 410
    assert "call again" in too_late.json()["error"]["message"]

    with web_process(environment, tmp_path / "again", port) as server, client_of(server) as again:
        Session.objects.update(last_seen_at=timezone.now() - timedelta(minutes=20))
        assert status(again, session) == 200
        with listening(again, session), again.stream("POST", "/mcp", **LISTEN) as stream:
            next(events(stream))
            started = time.monotonic()
            os.kill(server.pid, signal.SIGTERM)
            os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
            assert time.monotonic() - started < STOP_SECONDS

    seen_at = Session.objects.get(pk=session["Mcp-Session-Id"]).last_seen_at
    assert timezone.now() - seen_at < timedelta(minutes=1)
    assert status(other, session) == 200


def test_a_stream_that_resumes_where_its_events_are_unknown_announces_everything(
    one: httpx2.Client, other: httpx2.Client
) -> None:
    session = open_session(one)
    uri = "checkpoint://recent"
    one.post("/mcp", json=rpc("resources/subscribe", {"uri": uri}), headers=session)
    with one.stream("GET", "/mcp", headers=session) as stream:
        changes.announce("tools")
        last = last_event_in(stream.iter_lines())

    with listening(other, {**session, "Last-Event-ID": last}) as messages:
        missed = [next(messages) for _ in (*LISTS_CHANGED, UPDATED)]
        changes.announce("prompts")
        assert PROMPTS_CHANGED in methods_of(messages)

    assert {message["method"] for message in missed[:-1]} == LISTS_CHANGED
    assert (missed[-1]["method"], missed[-1]["params"]) == (UPDATED, {"uri": uri})


def test_the_stream_of_a_call_that_is_gone_is_refused(other: httpx2.Client) -> None:
    resumed = {**open_session(other), "Last-Event-ID": "call-of-another-process"}

    response = other.get("/mcp", headers=resumed)

    assert response.status_code == 410
    assert "cannot be resumed here" in response.json()["error"]["message"]
