"""The record of who called what, and whether it was allowed."""

import dataclasses
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from contextd import pipeline
from contextd.callers import Caller, Entry
from contextd.errors import Declined
from contextd.operations import reader
from contextd.resources import Contents, ReadResource
from contextd.signals import serving_began, serving_ended
from contexts import audit, tasks
from contexts.models import AuditEntry, Token
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant
from tests.plain_http import modern
from tests.server import eventually

pytestmark = pytest.mark.django_db


def outcomes() -> list[tuple[str, str, bool]]:
    entries = AuditEntry.objects.order_by("pk")
    return list(entries.values_list("operation", "outcome", "was_allowed"))


def test_a_call_is_one_entry(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    grant(make_context(), ann)

    post("checkpoint_list", token=token_of(ann), context="backend")

    entry = AuditEntry.objects.get()
    assert (entry.principal, entry.user) == (f"user:{ann.pk}", ann)
    assert (entry.operation, entry.context) == ("checkpoints:checkpoint_list", "backend")
    assert (entry.door, entry.outcome, entry.was_allowed) == ("rest", "ok", True)
    assert entry.connection.startswith(f"user:{ann.pk}/")
    assert 0 < entry.milliseconds < 60_000
    assert timezone.now() - entry.at < timedelta(minutes=1)


def test_a_person_who_declines_refuses_no_permission(caller: Caller) -> None:
    def ask(caller: Caller, request: ReadResource) -> Contents:
        raise Declined("the person did not agree")

    asking = reader("resource", "ask://{name}", ask, ReadResource, Contents, 5)
    with pytest.raises(Declined):
        pipeline.call_operation(asking, {"uri": "ask://ann"}, caller)

    assert outcomes() == [(asking.canonical_name, "unauthorized", True)]


def test_the_outcome_of_a_call_is_recorded(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    grant(make_context(tools=["checkpoint_*"]), ann, "read")
    token = token_of(ann)
    for name, arguments in [
        ("checkpoint_get", {"id": "7"}),
        ("checkpoint_get", {}),
        ("checkpoint_delete", {"id": "7"}),
        ("status", {}),
    ]:
        post(name, arguments, token=token, context="backend")

    assert outcomes() == [
        ("checkpoints:checkpoint_get", "not_found", True),
        ("checkpoints:checkpoint_get", "validation", True),
        ("checkpoints:checkpoint_delete", "unauthorized", False),
        ("contextd:status", "unauthorized", False),
    ]


def test_a_call_that_exceeds_its_rate_was_not_allowed(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    grant(make_context(calls_per_second=1, calls_at_once=1), ann)
    token = token_of(ann)

    for _ in range(10):  # on a slow machine, some are in time
        post("checkpoint_list", token=token, context="backend")

    assert set(outcomes()) == {
        ("checkpoints:checkpoint_list", "ok", True),
        ("checkpoints:checkpoint_list", "rate_limited", False),
    }


def test_the_refusal_of_a_known_principal_is_recorded(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    make_context()
    token = token_of(ann)

    post("checkpoint_list", token=token, context="backend")
    post("checkpoint_list", token=token, context="nope\x00" + "x" * 100)
    Token.objects.update(revoked_at=timezone.now())
    post("checkpoint_list", token=token)

    entries = AuditEntry.objects.order_by("pk").values_list(
        "principal", "user", "operation", "context", "door", "outcome", "was_allowed"
    )
    ann_at_rest = (f"user:{ann.pk}", ann.pk, "-")
    assert list(entries) == [
        (*ann_at_rest, "backend", "rest", "unauthorized", False),
        (*ann_at_rest, "nope" + "x" * 60, "rest", "not_found", False),
        (*ann_at_rest, "default", "rest", "unauthorized", False),
    ]


def test_the_refusal_of_an_unknown_token_is_not_recorded(post: Post) -> None:
    post("checkpoint_list", token={"Authorization": "Bearer wrong"})

    assert not AuditEntry.objects.exists()


def test_a_client_name_cannot_prevent_its_record(caller: Caller) -> None:
    strange = dataclasses.replace(
        caller, client="a\x00b\ud800c" + "d" * 200, connection="e" * 500, entry=Entry()
    )

    pipeline.call("checkpoint_list", {}, strange)

    entry = AuditEntry.objects.get()
    assert entry.client == ("abc" + "d" * 200)[:100]
    assert entry.connection == "e" * 200


@pytest.mark.django_db(transaction=True)
def test_calls_over_mcp_are_recorded_too(
    http: httpx2.Client, ann: User, make_context: MakeContext, token_of: MakeToken
) -> None:
    make_context()
    call = modern("tools/call", name="checkpoint_list")
    headers = {**call["headers"], **token_of(ann)}

    http.post("/mcp", json=call["json"], headers=headers)
    http.post("/mcp", json=call["json"], headers={**headers, "X-MCP-Context": "backend"})

    entries = AuditEntry.objects.filter(user=ann).order_by("pk")
    assert eventually(lambda: len(entries.all()) == 2)
    assert list(entries.values_list("door", "operation", "context", "was_allowed")) == [
        ("mcp", "checkpoints:checkpoint_list", "default", True),
        ("mcp", "-", "backend", False),
    ]


@pytest.mark.django_db(transaction=True)
def test_a_call_succeeds_when_it_cannot_be_recorded(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit, "INSERT", audit.INSERT.replace("{table}", "nowhere"))

    result: Any = pipeline.call("checkpoint_list", {}, caller)

    assert result.total == 0
    assert "record_call" in caplog.text


def old_entry(days: float) -> None:
    entry = AuditEntry.objects.create(
        principal="user:1", was_allowed=True, milliseconds=1, operation=f"{days} days"
    )
    moment = timezone.now() - timedelta(days=days)
    AuditEntry.objects.filter(pk=entry.pk).update(at=moment)


def test_old_entries_expire(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CONTEXTD_AUDIT_DAYS = 30
    monkeypatch.setattr(audit, "ROWS_PER_DELETE", 2)
    for days in (29, 31, 32, 33, 34, 35):
        old_entry(days)

    tasks.expire_audit()

    assert AuditEntry.objects.get().operation == "29 days"


def test_beat_knows_the_task_that_does_it(settings: Any) -> None:
    from celery import current_app

    names = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert "contexts.tasks.expire_audit" in names & set(current_app.tasks)


def test_the_user_may_be_deleted_and_what_they_did_stays(
    ann: User, token_of: MakeToken, post: Post
) -> None:
    post("checkpoint_list", token=token_of(ann))
    ann_was = f"user:{ann.pk}"

    ann.delete()

    entry = AuditEntry.objects.get()
    assert (entry.principal, entry.user) == (ann_was, None)


def test_the_audit_can_be_searched_and_filtered_but_not_changed(
    admin_client: Client, ann: User, token_of: MakeToken, post: Post
) -> None:
    post("checkpoint_list", token=token_of(ann))
    post("checkpoint_get", {"id": "7"})
    address = "/admin/contexts/auditentry/"

    def shown(**query: str) -> str:
        page = admin_client.get(address, query)
        assert page.status_code == 200
        return str(page.content.decode())

    for query in ({"q": "ann"}, {"outcome__exact": "ok"}, {"q": f"user:{ann.pk}"}):
        assert "checkpoints:checkpoint_list" in shown(**query)
        assert "checkpoints:checkpoint_get" not in shown(**query)
    for query in ({"context": "default"}, {"door__exact": "rest"}, {"was_allowed__exact": "1"}):
        assert "checkpoints:checkpoint_list" in shown(**query)
        assert "checkpoints:checkpoint_get" in shown(**query)
    assert "checkpoints:" not in shown(context="backend")
    AuditEntry.objects.update(milliseconds=2983.7984559999313)
    entry = AuditEntry.objects.first()
    assert entry is not None
    read = admin_client.get(f"{address}{entry.pk}/change/").content.decode()
    for page in (shown(), read):
        assert "2983.8" in page
        assert "2983.798" not in page
    assert admin_client.post(f"{address}{entry.pk}/change/", {}).status_code == 403
    assert admin_client.post(f"{address}{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    assert admin_client.get(f"{address}add/").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_what_is_collected_is_written_when_serving_ends(caller: Caller) -> None:
    serving_began.send(None)
    try:
        for _ in range(3):
            pipeline.call("checkpoint_list", {}, caller)
    finally:
        serving_ended.send(None)

    assert AuditEntry.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_an_entry_of_a_deleted_user_does_not_prevent_others(caller: Caller, ann: User) -> None:
    pipeline.call("checkpoint_list", {}, dataclasses.replace(caller, user_id=ann.pk + 1))

    assert AuditEntry.objects.get().user is None
