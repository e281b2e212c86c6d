"""The dashboard's data over REST."""

import csv
import io
from base64 import b64encode
from datetime import timedelta
from typing import Any, Protocol
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from analytics import recording, tasks
from analytics.models import Event, WorkSession
from contextd.models import Project
from contexts.models import AuditEntry
from tests.analytics.conftest import Happened
from tests.conftest import Call
from tests.contexts.conftest import MakeContext, MakeToken, ann, grant, make_context, token_of

__all__ = ["ann", "make_context", "token_of"]

pytestmark = pytest.mark.django_db


class Get(Protocol):
    def __call__(self, address: str, query: Any = ..., **headers: str) -> Any: ...


@pytest.fixture
def get() -> Get:
    """From this machine, where no token is needed."""
    client = Client(headers={"Host": "localhost"})

    def get(address: str, query: Any = None, **headers: str) -> Any:
        return client.get(f"/api/dashboard/{address}", query or {}, headers=headers)

    return get


def test_calls_by_day_and_operation(get: Get, happened: Happened) -> None:
    for days in (0, 2, 2):
        happened("status", days_ago=days)
    happened("skill_search", days_ago=2, found=[], outcome="ok")
    tasks.roll_up()

    rows = get("series/").json()

    today = timezone.now().date()
    assert [(row["day"], row["operation"], row["calls"], row["searches"]) for row in rows] == [
        (str(today - timedelta(days=2)), "skill_search", 1, 1),
        (str(today - timedelta(days=2)), "status", 2, 0),
        (str(today), "status", 1, 0),
    ]
    assert [row["calls"] for row in get("series/", {"operation": "skill_search"}).json()] == [1]
    assert get("series/", {"end_date": today - timedelta(days=5)}).json() == []


def test_top_lists(get: Get, happened: Happened) -> None:
    shop = Project.objects.create(name="shop")
    happened("remediation_search", domain="remediation", query="KeyError", found=[], client="a")
    happened("remediation_search", domain="remediation", query="KeyError", found=[3], client="a")
    happened("status", project=shop, client="b", outcome="timeout")

    def top(what: str, **query: Any) -> list[tuple[str, int, int]]:
        rows = get(f"top/{what}/", query).json()
        return [(row["name"], row["count"], row["failures"]) for row in rows]

    assert top("operations") == [("remediation_search", 2, 0), ("status", 1, 1)]
    assert top("errors") == [("KeyError", 2, 1)]
    assert top("unanswered") == [("KeyError", 1, 0)]
    assert top("clients", limit=1) == [("a", 2, 0)]
    assert top("projects") == [("-", 2, 0), ("shop", 1, 1)]
    assert top("projects", project=shop.pk) == [("shop", 1, 1)]
    assert top("contexts") == [("default", 3, 1)]
    assert get("top/nothing/").status_code == 404


@pytest.mark.parametrize(
    ("address", "query", "known"),
    [
        ("", {"foo": "1"}, "format"),
        ("series/", {"foo": "1"}, "end_date, format, operation, project, start_date"),
        ("top/errors/", {"foo": "1"}, "end_date, format, limit"),
        ("calls/", {"foo": "1"}, "client, context, cursor"),
        ("calls/", {"ordering": "foo"}, "at, milliseconds"),
        ("records/", {"foo": "1"}, "format"),
        ("records/checkpoint/", {"foo": "1"}, "cursor, format, limit"),
    ],
)
def test_what_an_address_does_not_know_is_refused(
    get: Get, address: str, query: dict[str, str], known: str
) -> None:
    answer = get(address, query)

    assert answer.status_code == 400
    assert answer.json()["details"]["field"] == "foo"
    assert f"'foo'; there are: {known}" in answer.json()["message"]


def test_calls_are_filtered_ordered_and_paged(get: Get, happened: Happened) -> None:
    for number in range(5):
        happened("status", milliseconds=float(number), client="mine", days_ago=number)
    happened("status", client="theirs")

    query = {"client": "mine", "ordering": "milliseconds", "limit": 2}
    pages = [get("calls/", query).json()]
    while following := pages[-1]["next"]:
        pages.append(get(following.partition("/api/dashboard/")[2]).json())

    shown = [row["milliseconds"] for page in pages for row in page["results"]]
    assert [len(page["results"]) for page in pages] == [2, 2, 1]
    assert shown == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_list_is_csv_where_that_is_asked_for(get: Get, happened: Happened) -> None:
    for _ in range(2):
        happened("status", client="=cmd()", found=[1, 2])

    page = get("calls/", {"format": "csv", "limit": 1})

    (row,) = csv.DictReader(io.StringIO(page.content.decode()))
    assert page["Content-Type"] == "text/csv; charset=utf-8"
    assert 'rel="next"' in page["Link"]
    assert (row["operation"], row["client"], row["found"]) == ("status", "'=cmd()", "[1, 2]")


@pytest.mark.parametrize("address", ["calls/", "series/", "records/checkpoint/"])
def test_a_list_without_rows_is_csv_with_a_header(get: Get, address: str) -> None:
    (header,) = get(address, {"format": "csv"}).content.decode().splitlines()

    assert {"day", "id"} & set(header.split(","))


@pytest.mark.parametrize("ordering", ["calls", "-calls"])
def test_rows_alike_in_what_they_are_ordered_by_are_all_shown(
    get: Get, happened: Happened, ordering: str
) -> None:
    session = happened("status").session
    times = {"began_at": session.began_at, "ended_at": session.ended_at}
    WorkSession.objects.bulk_create(WorkSession(key="k", **times) for _ in range(1100))

    shown: list[int] = []
    following = f"sessions/?ordering={ordering}&limit=60"
    while following and len(shown) < 2000:
        page = get(following).json()
        shown += [row["id"] for row in page["results"]]
        following = (page["next"] or "").partition("/api/dashboard/")[2]

    assert sorted(shown) == sorted(WorkSession.objects.values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("address", "cursor"),
    [
        ("calls/", "p=xyz"),
        ("calls/?ordering=milliseconds", "p=2026-01-01 00:00:00+00:00"),
        ("sessions/?ordering=calls", "p=1.5"),
        ("records/skill/", "p=xyz"),
        ("records/skill/", "o=x"),
    ],
)
def test_a_cursor_of_no_list_is_refused(get: Get, address: str, cursor: str) -> None:
    encoded = b64encode(cursor.encode()).decode()

    refused = get(f"{address}{'&' if '?' in address else '?'}{urlencode({'cursor': encoded})}")

    assert refused.status_code == 400
    assert refused.json()["details"]["field"] == "cursor"


@pytest.mark.parametrize("last", ["9999-12-31", "0001-01-02"])
def test_any_day_may_be_the_last(get: Get, call: Call, last: str) -> None:
    for address in ("series/", "top/clients/"):
        assert get(address, {"end_date": last}).json() == []
    assert call("analytics_get", end_date=last).total_sessions == 0


def test_a_browser_is_shown_a_page(get: Get, happened: Happened) -> None:
    happened("status")

    page = get("calls/", Accept="text/html")

    assert page.status_code == 200
    assert b"<html" in page.content


def test_the_root_lists_what_there_is(get: Get) -> None:
    for address in get("").json().values():
        assert get(address.partition("/api/dashboard/")[2]).status_code == 200, address


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00"])
@pytest.mark.parametrize("address", ["calls/", "sessions/", "audit/", "records/skill/"])
def test_a_moment_outside_of_the_calendar_is_refused(
    get: Get, address: str, name: str, moment: str
) -> None:
    refused = get(address, {name: moment})

    assert refused.status_code == 400
    assert refused.json()["details"]["field"] == name


@pytest.mark.parametrize(
    ("address", "query", "field"),
    [
        ("series/", {"start_date": "yesterday"}, "start_date"),
        ("series/", {"start_date": "2026-02-02", "end_date": "2026-01-01"}, "start_date"),
        ("top/clients/", {"limit": "1000"}, "limit"),
        ("calls/", {"since": "now"}, "since"),
        ("calls/", {"outcome": "a\x00b"}, "outcome"),
        ("calls/", {"project": "3.5"}, "project"),
        ("calls/", {"session": "0"}, "session"),
        ("calls/", {"limit": "-1"}, "limit"),
        ("sessions/", {"limit": "abc"}, "limit"),
        ("audit/", {"limit": "0"}, "limit"),
        ("audit/", {"was_allowed": "zz"}, "was_allowed"),
        ("records/checkpoint/", {"project": "3.5"}, "project"),
        ("records/file/", {"since": "2021-01-01T00:00:00Z"}, "since"),
        ("records/file/", {"until": "2021-01-01T00:00:00Z"}, "until"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    get: Get, address: str, query: dict[str, str], field: str
) -> None:
    refused = get(address, query)

    assert refused.status_code == 400
    assert refused.json()["category"] == "validation"
    assert refused.json()["details"]["field"] == field


def test_a_wrong_token_is_refused(get: Get) -> None:
    refused = get("calls/", Authorization="Bearer wrong")

    assert (refused.status_code, refused.json()["category"]) == (401, "unauthorized")
    assert refused["WWW-Authenticate"] == "Bearer"


def test_a_context_without_analytics_does_not_hold_it(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken
) -> None:
    grant(make_context(tools=["checkpoint_*"]), ann)

    refused = get("calls/", **token_of(ann), **{"X-MCP-Context": "backend"})

    assert (refused.status_code, refused.json()["category"]) == (403, "unauthorized")


def test_who_is_logged_in_needs_no_token(admin_client: Client, happened: Happened) -> None:
    happened("status")

    assert len(admin_client.get("/api/dashboard/calls/").json()["results"]) == 1


def test_a_context_sees_its_projects_only(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken, happened: Happened
) -> None:
    mine, other = (Project.objects.create(name=name) for name in ("mine", "other"))
    grant(make_context(projects=(mine,)), ann)
    own = f"user:{ann.pk}"
    for project in (mine, other):
        happened("status", project=project, principal=own)
    happened("skill_search", context="backend", principal=own)
    WorkSession.objects.update(principal=own)
    WorkSession.objects.filter(events__project=mine).update(projects=[mine.pk])
    WorkSession.objects.filter(events__project=other).update(projects=[other.pk])
    headers = {**token_of(ann), "X-MCP-Context": "backend"}

    def seen(address: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = get(address, **headers).json()["results"]
        return rows

    assert {row["project"] for row in seen("calls/")} == {mine.pk, None}
    assert [row["projects"] for row in seen("sessions/")] == [[mine.pk]]
    assert sum(row["calls"] for row in get("series/", **headers).json()) == 2
    assert {row["name"] for row in get("top/projects/", **headers).json()} == {"mine", "-"}


def test_records_are_those_that_the_caller_may_see(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken
) -> None:
    from checkpoints.models import Checkpoint

    mine, other = (Project.objects.create(name=name) for name in ("mine", "other"))
    grant(make_context(projects=(mine,)), ann)
    for project in (mine, other):
        Checkpoint.objects.create(project=project, summary=f"in {project}", token_count=1)

    rows = get("records/checkpoint/", **token_of(ann), **{"X-MCP-Context": "backend"}).json()[
        "results"
    ]

    assert [row["title"] for row in rows] == ["in mine"]
    assert rows[0]["url"].startswith("/admin/checkpoints/checkpoint/")
    assert "checkpoint" in {row["name"] for row in get("records/").json()}
    assert get("records/nothing/").status_code == 404


def test_records_are_chosen_by_project_and_by_when_they_changed(get: Get) -> None:
    from checkpoints.models import Checkpoint

    shop, bank = (Project.objects.create(name=name) for name in ("shop", "bank"))
    for project in (shop, bank):
        Checkpoint.objects.create(project=project, summary=f"in {project}", token_count=1)
    Checkpoint.objects.filter(project=bank).update(updated_at="2020-01-01T00:00:00Z")

    def titles(query: str) -> list[str]:
        rows = get(f"records/checkpoint/?{query}").json()["results"]
        return [row["title"] for row in rows]

    assert titles(f"project={shop.pk}") == ["in shop"]
    assert titles("since=2021-01-01T00:00:00Z") == ["in shop"]
    assert titles("until=2021-01-01T00:00:00Z") == ["in bank"]
    refused = get(f"records/threat/?project={shop.pk}")
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "project")


def test_the_audit_is_ones_own_but_for_managers(
    get: Get, ann: User, make_context: MakeContext, token_of: MakeToken
) -> None:
    context = make_context()
    grant(context, ann)
    for principal in (f"user:{ann.pk}", "user:999"):
        for name in ("backend", "other"):
            AuditEntry.objects.create(
                principal=principal, context=name, was_allowed=True, milliseconds=1
            )
    headers = {**token_of(ann), "X-MCP-Context": "backend"}

    def seen() -> set[tuple[str, str]]:
        rows = get("audit/", **headers).json()["results"]
        return {(row["principal"], row["context"]) for row in rows}

    own = f"user:{ann.pk}"
    assert seen() == {(own, "backend"), (own, "other")}
    grant(context, ann, "manage")
    assert seen() == {(own, "backend"), ("user:999", "backend")}


def test_the_audit_is_filtered_by_what_was_allowed(get: Get) -> None:
    for was_allowed in (True, False):
        AuditEntry.objects.create(context="default", was_allowed=was_allowed, milliseconds=1)

    for given, expected in (("true", {True}), ("False", {False}), ("", {True, False})):
        rows = get("audit/", {"was_allowed": given}).json()["results"]
        assert {row["was_allowed"] for row in rows} == expected


def test_who_asks_too_often_has_to_wait(get: Get, settings: Any) -> None:
    settings.CONTEXTD_DASHBOARD_RATE = "2/m"

    # More than two minutes may hold, since a minute may end meanwhile.
    refused = [answer for _ in range(5) if (answer := get("records/")).status_code == 429]

    assert refused
    seconds = refused[0].json()["details"]["retry_after"]
    assert refused[0]["Retry-After"] == str(seconds)
    assert seconds >= 1


def test_a_refused_caller_waits_at_least_a_second(get: Get, settings: Any) -> None:
    settings.CONTEXTD_DASHBOARD_RATE = "0/s"

    refused = get("records/")

    assert (refused.status_code, refused.json()["details"]["retry_after"]) == (429, 1)


def test_an_unknown_format_is_not_available(get: Get) -> None:
    for address in ("", "calls/", "records/"):
        refused = get(address, {"format": "xml"})

        assert (refused.status_code, refused["Content-Type"]) == (406, "application/json")
        assert "'xml' is not available; there are: json, api, csv" in refused.json()["message"]


def test_passwords_cannot_be_tried_at_will(client: Client, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    tried = {"username": "ann", "password": "guessed"}

    doors = ["/admin/login/", "/dashboard/login/"] * 11
    answers = [client.post(door, tried).status_code for door in doors]

    assert answers[:10] == [200] * 10
    assert 429 in answers


def test_reading_the_dashboard_is_no_call(get: Get) -> None:
    get("calls/")
    recording.buffer.flush()

    assert not Event.objects.exists()
