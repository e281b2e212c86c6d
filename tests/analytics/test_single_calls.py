"""Who sees single calls and sessions, and what others asked."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from analytics.models import WorkSession
from contextd.models import Project
from contexts.models import AuditEntry
from tests.analytics.conftest import Happened
from tests.analytics.test_dashboard_api import Get, get
from tests.contexts.conftest import MakeContext, MakeToken, ann, grant, make_context, token_of

__all__ = ["ann", "get", "make_context", "token_of"]

pytestmark = pytest.mark.django_db


def test_single_calls_are_ones_own_but_for_managers(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken, happened: Happened
) -> None:
    context = make_context()
    grant(context, ann)
    own = f"user:{ann.pk}"
    for principal in (own, "user:999"):
        session = session_of(principal, "backend")
        happened("status", context="backend", session=session, principal=principal)
    headers = {**token_of(ann), "X-MCP-Context": "backend"}

    def seen(address: str, **query: str) -> set[str]:
        rows = get(address, query, **headers).json()["results"]
        return {row["principal"] for row in rows}

    for address in ("calls/", "sessions/"):
        assert seen(address) == {own}
        assert seen(address, principal="user:999") == set()
    assert sum(row["calls"] for row in get("series/", **headers).json()) == 2
    grant(context, ann, "manage")
    for address in ("calls/", "sessions/"):
        assert seen(address) == {own, "user:999"}


def test_managers_see_single_calls_of_their_context_only(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken, happened: Happened
) -> None:
    grant(make_context(all_projects=True), ann, "manage")
    for context in ("backend", "other"):
        session = session_of("user:999", context)
        happened("status", context=context, session=session, principal="user:999")
    headers = {**token_of(ann), "X-MCP-Context": "backend"}

    for address in ("calls/", "sessions/"):
        rows = get(address, **headers).json()["results"]
        assert [row["context"] for row in rows] == ["backend"]


def test_a_session_names_only_projects_that_the_caller_sees(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken
) -> None:
    mine, other = (Project.objects.create(name=name) for name in ("mine", "other"))
    grant(make_context(projects=(mine,)), ann)
    session_of(f"user:{ann.pk}", "backend", projects=[other.pk, mine.pk])

    rows = get("sessions/", **token_of(ann), **{"X-MCP-Context": "backend"}).json()["results"]

    assert [row["projects"] for row in rows] == [[mine.pk]]


def test_the_error_of_a_diagnosis_is_for_its_caller_and_managers(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken, happened: Happened
) -> None:
    context = make_context()
    grant(context, ann)
    for domain, principal, error in (
        ("diagnosis", f"user:{ann.pk}", "mine"),
        ("diagnosis", "user:999", "secret"),
        ("remediation", "user:999", "shared"),
    ):
        asked: Any = {"domain": domain, "query": error, "principal": principal}
        happened("search", context="backend", found=[], **asked)
    headers = {**token_of(ann), "X-MCP-Context": "backend"}

    def listed(what: str) -> set[str]:
        return {row["name"] for row in get(f"top/{what}/", **headers).json()}

    for what in ("errors", "unanswered"):
        assert listed(what) == {"mine", "shared"}
    grant(context, ann, "manage")
    for what in ("errors", "unanswered"):
        assert listed(what) == {"mine", "secret", "shared"}


def test_the_audit_contains_no_ids_of_sessions(get: Get) -> None:
    AuditEntry.objects.create(
        context="default", connection="s3cret", was_allowed=True, milliseconds=1
    )

    for format in ("json", "csv"):
        assert "s3cret" not in get("audit/", {"format": format}).content.decode()


def session_of(principal: str, context: str, **fields: Any) -> WorkSession:
    now = timezone.now()
    given = {"key": principal, "client": "c", "began_at": now, "ended_at": now, **fields}
    return WorkSession.objects.create(principal=principal, context=context, **given)
