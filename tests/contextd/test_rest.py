"""The REST door."""

import asyncio
import dataclasses
import json
import threading
from functools import partial
from typing import Any, cast

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.test import Client
from starlette.types import ASGIApp, Message

from contextd import auth, operations, rest
from contextd.concurrency import ConcurrencyLimit, PlaceLimit
from contextd.limits import PRINCIPAL_RATE
from contextd.operations import Operation, Rate, Result
from contextd.rest import api
from contexts import tokens
from tests.contextd import asgi_client, holding
from tests.contextd.holding import Held

pytestmark = pytest.mark.django_db(transaction=True)


PATIENT = 20


class Waited(Result):
    text: str


@pytest.fixture
def client(warm_model: None) -> Client:
    """Return a client on this machine, which needs no token."""
    return Client(headers={"Host": "localhost"})


def post(client: Client, name: str, arguments: Any = None, **extra: Any) -> Any:
    return client.post(f"/api/v1/{name}", arguments or {}, content_type="application/json", **extra)


def test_an_operation_answers_with_its_result(client: Client) -> None:
    response = post(client, "checkpoint_save", {"summary": "done", "project_path": "/w/shop"})

    assert response.status_code == 200
    assert response.json()["summary"] == "done"
    assert response.json()["redacted"] == 0


def test_an_empty_body_means_no_arguments(client: Client) -> None:
    assert (
        client.post("/api/v1/checkpoint_list", "", content_type="application/json").json()["total"]
        == 0
    )


@pytest.mark.parametrize(
    ("name", "arguments", "status", "category"),
    [
        ("checkpoint_save", {}, 400, "validation"),
        ("checkpoint_get", {"id": "7"}, 404, "not_found"),
    ],
)
def test_errors_have_one_shape(
    client: Client, name: str, arguments: dict[str, Any], status: int, category: str
) -> None:
    response = post(client, name, arguments)

    assert response.status_code == status
    assert set(response.json()) == {"category", "message", "details"}
    assert response.json()["category"] == category


@pytest.mark.parametrize(
    ("body", "content_type", "sentence"),
    [
        ("{", "application/json", "the body is not JSON"),
        ("[" * 100_000, "application/json", "the body is not JSON"),
        ('{"id": ' + "9" * 5_000 + "}", "application/json", "the body is not JSON"),
        (b'{"id": "\xff"}', "application/json", "the body is not JSON"),
        ("[1]", "application/json", "the body must be a JSON object"),
        ("id=1", "application/x-www-form-urlencoded", "send the arguments as application/json"),
        ("{}", "text/plain", "send the arguments as application/json"),
    ],
)
def test_a_body_that_is_not_an_object_is_refused(
    client: Client, body: str | bytes, content_type: str, sentence: str
) -> None:
    response = client.post("/api/v1/checkpoint_get", body, content_type=content_type)

    assert response.status_code == 400
    assert response.json()["message"].startswith(sentence)
    assert response.json()["details"] in ({"field": "body"}, {"field": "Content-Type"})


def test_parser_text_is_not_returned(client: Client) -> None:
    response = client.post("/api/v1/status", b"\xff", content_type="application/json")

    assert response.json()["message"] == "the body is not JSON"


@pytest.mark.parametrize("method", ["get", "post", "delete"])
@pytest.mark.parametrize("address", ["nope", "status/", "", "a/b"])
def test_an_unknown_address_lists_the_operations(client: Client, method: str, address: str) -> None:
    response = getattr(client, method)(f"/api/v1/{address}")

    assert response.status_code == 404
    assert set(response.json()) == {"category", "message", "details"}
    assert "checkpoint_save" in response.json()["message"]


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "options", "trace"])
def test_a_method_other_than_post_is_refused(client: Client, method: str) -> None:
    response = getattr(client, method)("/api/v1/status")

    assert response.status_code == 405
    assert response["Allow"] == "POST"
    assert response.json()["category"] == "validation"
    assert response.json()["details"] == {"field": "method", "allowed": ["POST"]}
    assert "use POST" in response.json()["message"]


def test_an_unexpected_error_returns_only_a_reference(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError("inner text")

    monkeypatch.setattr("contextd.auth.caller_of_django", break_down)
    response = post(client, "status")

    assert response.status_code == 500
    assert set(response.json()) == {"category", "message", "details"}
    assert "inner text" not in response.content.decode()
    assert response.json()["details"]["reference"] in caplog.text


def test_too_many_calls_are_refused_with_the_time_to_wait(
    client: Client, declared: dict[str, Operation]
) -> None:
    scarce = dataclasses.replace(declared["checkpoint_list"], rate=Rate(1, burst=2))
    declared["checkpoint_list"] = scarce

    responses = [post(client, "checkpoint_list") for _ in range(20)]
    refused = next(response for response in responses if response.status_code == 429)
    assert responses[0].status_code == 200
    assert int(refused["Retry-After"]) >= 1
    assert refused.json()["message"] == "rate limit exceeded for tool: checkpoint_list"


def test_calls_that_wait_hold_no_connection(declared: dict[str, Operation]) -> None:
    waiting, is_over = threading.Semaphore(0), threading.Event()
    bodies: list[bytes] = []

    async def wait(*_: object) -> Waited:
        waiting.release()
        await asyncio.to_thread(is_over.wait)
        return Waited(text="waited")

    async def note(message: Message) -> None:
        bodies.append(message.get("body", b""))

    async def call_often() -> tuple[Held, Held]:
        app = cast(ASGIApp, get_asgi_application())
        before = await holding.now()
        call = partial(asgi_client.post, app, "/api/v1/index_repository", b'{"path": "/w"}', note)
        calls = [asyncio.create_task(call()) for _ in range(PATIENT)]
        for _ in calls:
            await asyncio.to_thread(waiting.acquire)
        during = await holding.now()
        is_over.set()
        await asyncio.gather(*calls)
        return before, during

    declared["index_repository"] = dataclasses.replace(
        declared["index_repository"], handler=wait, rate=Rate(100, burst=100)
    )
    before, during = asyncio.run(call_often())

    assert bodies.count(b'{"text":"waited"}') == PATIENT
    assert during.connections <= before.connections


def test_one_principal_has_a_limited_number_of_waiting_calls(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "waiting_limit", limit := PlaceLimit(total=2, per_principal=1))
    anonymous = auth.ANONYMOUS.name

    with limit.place(anonymous, "waiting calls"):
        refused = post(client, "index_repository", {"path": "/w/nowhere"})
        at_once = post(client, "checkpoint_list")
    accepted = post(client, "index_repository", {"path": "/w/nowhere"})

    assert refused.status_code == 503
    assert refused.json()["message"] == "you have 1 waiting calls open; end some of them first"
    assert (at_once.status_code, accepted.status_code) == (200, 400)


def test_calls_above_the_limit_wait_for_a_while(
    client: Client, declared: dict[str, Operation], monkeypatch: pytest.MonkeyPatch
) -> None:
    declared["checkpoint_list"] = dataclasses.replace(declared["checkpoint_list"], timeout=0.05)
    few = ConcurrencyLimit(at_once=1, waiting=1)
    monkeypatch.setattr(rest, "concurrency_limit", few)

    with few.slot(0):
        in_vain = post(client, "checkpoint_list")
        with few._known:
            too_many = post(client, "checkpoint_list")
    at_last = post(client, "checkpoint_list")

    assert (in_vain.status_code, too_many.status_code, at_last.status_code) == (503, 503, 200)
    assert "no worker was free for 0.05 s" in in_vain.json()["message"]
    assert "too many calls are waiting" in too_many.json()["message"]


def test_a_call_that_waits_fails_in_the_same_shape(client: Client) -> None:
    response = post(client, "index_repository", {"path": "/w/nowhere"})

    assert response.status_code == 400
    assert response.json()["details"]["field"] == "path"


def test_a_canonical_name_works_as_well(client: Client) -> None:
    saved = post(client, "checkpoints:checkpoint_save", {"summary": "s", "project_path": "/w/a"})

    assert saved.json()["summary"] == "s"


def test_a_user_who_sends_too_many_requests_waits_and_nobody_else_does(
    client: Client, settings: Any
) -> None:
    settings.CONTEXTD_REST_RATE = "2/h"
    _, secret = tokens.create(User.objects.create_user("ann"), name="laptop")
    ann = {"Authorization": f"Bearer {secret}"}
    broken = [client.post("/api/v1/status", "{", "application/json") for _ in range(3)]

    assert [response.status_code for response in broken] == [400, 400, 429]
    assert set(broken[-1].json()) == {"category", "message", "details"}
    assert 1 <= int(broken[-1]["Retry-After"]) <= 3600
    assert post(client, "checkpoint_list", headers=ann).status_code == 200


def test_the_rate_of_requests_is_above_those_of_operations() -> None:
    number, _, period = django_settings.CONTEXTD_REST_RATE.partition("/")

    assert period == "s"
    assert int(number) >= PRINCIPAL_RATE.burst + PRINCIPAL_RATE.per_second


def test_a_bad_token_is_never_anonymous(client: Client) -> None:
    response = post(client, "checkpoint_list", headers={"Authorization": "Bearer wrong"})

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_only_a_token_admits_callers_from_other_machines(client: Client) -> None:
    user = User.objects.create_user("ann")
    _, secret = tokens.create(user, name="laptop")
    afar = {"REMOTE_ADDR": "192.0.2.7"}

    assert post(client, "checkpoint_list", **afar).status_code == 401
    with_token = {"Authorization": f"Bearer {secret}"}
    assert post(client, "checkpoint_list", headers=with_token, **afar).status_code == 200


def test_openapi_describes_every_operation(client: Client) -> None:
    document = json.loads(client.get("/api/v1/openapi.json").content)

    listed = document["paths"]["/api/v1/checkpoint_get"]["post"]
    assert (listed["summary"], listed["tags"]) == ("Read one complete checkpoint", ["checkpoints"])

    for operation in operations.installed():
        described = document["paths"][f"/api/v1/{operation.name}"]["post"]
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        assert set(schema["properties"]) == set(operation.request.model_fields)
        documented = {"200", "400", "401", "403", "404", "413", "421", "429", "500", "503", "504"}
        assert documented == set(described["responses"])


def test_there_is_a_page_to_read_and_try(client: Client) -> None:
    response = client.get("/api/v1/docs")

    assert response.status_code == 200
    assert b"openapi.json" in response.content
    assert b'<html lang="en">' in response.content
    assert api.title == "contextd"


@pytest.mark.parametrize("address", ["/api/v1/openapi.json", "/api/dashboard/openapi.json"])
def test_the_documents_are_public(address: str) -> None:
    remote = Client(REMOTE_ADDR="203.0.113.5")

    assert remote.get(address).status_code == 200
    assert remote.get("/api/dashboard/calls/").status_code == 401


def test_no_part_of_the_docs_page_comes_from_elsewhere(client: Client) -> None:
    assert b"//cdn" not in client.get("/api/v1/docs").content
