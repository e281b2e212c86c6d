"""People write patterns and learn from sessions in the admin."""

import dataclasses
import html
import json
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from contextd import search, shipped
from contextd.shipped import Reading, Record
from tests.conftest import Call
from tests.troubleshoot.conftest import DISK_FULL, KNOWN, Know
from troubleshoot import curating, library
from troubleshoot.admin import PatternAdmin
from troubleshoot.models import Diagnosis, Pattern

PATTERNS = "/admin/troubleshoot/pattern/"
SESSIONS = "/admin/troubleshoot/diagnosis/"
LISTS = ["technologies", "signatures", "tags", "references"]
JSON = ["confirm", "fix", "confused_with", "versions"]

pytestmark = pytest.mark.django_db(transaction=True)


def form(key: str, **changes: Any) -> dict[str, Any]:
    values = {
        **KNOWN["module-missing"],
        "key": key,
        "confused_with": [],
        "tags": [],
        "versions": {},
    }
    values |= changes
    values |= {name: "\n".join(values.get(name, [])) for name in LISTS}
    values |= {name: json.dumps(values[name]) for name in JSON}
    return {**values, "errors": "\r\n---\r\n".join(values["errors"])}


def edit(client: Client, pattern: Pattern, changed: dict[str, Any]) -> None:
    address = f"{PATTERNS}{pattern.pk}/change/"
    page: Any = client.get(address)
    opened = page.context["adminform"].form["opened"].value()
    client.post(address, {"opened": opened, **changed})


def messages_of(page: Any) -> str:
    return " ".join(str(message) for message in page.context["messages"])


def likeliest(call: Call, error: str) -> str | None:
    found = call("troubleshoot", error_message=error).hypotheses
    return found[0].id if found else None


def test_a_pattern_that_is_written_explains_errors_at_once(
    admin_client: Client, call: Call
) -> None:
    errors = ["E: the warp core\nis cold", "warp core too cold"]
    admin_client.post(f"{PATTERNS}add/", form("warp-cold", errors=errors, signatures=["warp core"]))

    assert Pattern.objects.get().errors == errors
    assert likeliest(call, "stderr: warp core below limit") == "warp-cold"


def test_a_pattern_that_ships_no_more_is_back_when_it_is_written_again(
    admin_client: Client, call: Call, know: Know
) -> None:
    pattern = know("module-missing", signatures=[])
    Pattern.objects.update(shipped={}, is_retired=True)
    changed = form("", errors=["the orchard floods: valve 7 open"], signatures=["valve 7 open"])

    edit(admin_client, pattern, changed)

    assert likeliest(call, "night shift: valve 7 open again") == "module-missing"


def test_a_pattern_that_is_changed_is_found_by_its_new_words(
    admin_client: Client, call: Call, know: Know
) -> None:
    pattern = know("module-missing", signatures=[])
    changed = form("", errors=["the orchard floods: valve 7 open"], signatures=["valve 7 open"])

    edit(admin_client, pattern, changed)

    assert likeliest(call, "night shift: valve 7 open again") == "module-missing"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"signatures": ["(x"]}, "is not a valid regular expression"),
        ({"versions": {"python": "three"}}, "must be versions such as"),
        ({"confirm": [{"run": "df"}]}, "confirm.0.expect: Field required"),
        ({"confused_with": [{"id": "nobody", "tell": "x"}]}, "there is no pattern nobody"),
        (
            {"fix": [{"do": "x", "run": "rm -rf /x", "destructive": False}]},
            "must say destructive: true, since it deletes /x",
        ),
    ],
)
def test_what_is_wrong_is_said_and_not_saved(
    admin_client: Client, changes: dict[str, Any], problem: str
) -> None:
    page = admin_client.post(f"{PATTERNS}add/", form("warp-cold", **changes))

    assert problem in page.content.decode()
    assert not Pattern.objects.exists()


def test_a_credential_typed_in_the_form_is_replaced_and_said(admin_client: Client) -> None:
    cause = "postgresql://app:s3cretpass@db/shop was down for a while"
    page = admin_client.post(f"{PATTERNS}add/", form("db-down", cause=cause), follow=True)

    assert "s3cretpass" not in Pattern.objects.get().cause
    assert "1 credentials were replaced" in messages_of(page)


def ship(**texts: str) -> None:
    values = {**KNOWN["disk-full"], "confused_with": [], "references": [], **texts}
    reading = Reading([Record("disk-full", values)], [])
    shipped.load(dataclasses.replace(library.LIBRARY, read=lambda: reading))


def test_a_disabled_pattern_is_not_searched_when_a_newer_text_ships(know: Know) -> None:
    """It would take the place of another in the search."""
    ship(cause="The shipped cause, long enough.")
    disabled = Pattern.objects.get()
    disabled.is_draft = True
    curating.save(disabled)

    ship(cause="The newer cause, long enough.")

    assert Pattern.objects.get().cause == "The newer cause, long enough."
    assert found_by_search() == []
    published = Pattern.objects.get()
    published.is_draft = False
    curating.save(published)
    assert found_by_search() == [published.pk]


def found_by_search() -> list[int]:
    hits = search.find("newer cause", domain=library.DOMAIN, projects=None, limit=5).hits
    return [hit.record_id for hit in hits]


def test_people_win_over_what_ships_until_they_take_it(admin_client: Client, call: Call) -> None:
    texts = {"cause": "The shipped cause, long enough."}
    ship(**texts)
    Pattern.objects.update(cause="What people know here.")
    texts["cause"] = "The newer cause, long enough."
    ship(**texts)
    kept = Pattern.objects.get().cause
    chosen = {"action": "take_offered", "_selected_action": [Pattern.objects.get().pk]}
    admin_client.post(PATTERNS, chosen)

    assert kept == "What people know here."
    assert Pattern.objects.get().cause == "The newer cause, long enough."
    assert "adopted the newer shipped text" in LogEntry.objects.latest("pk").get_change_message()


def test_a_shipped_pattern_that_is_saved_unchanged_is_not_edited(rf: RequestFactory) -> None:
    """As by a person who only disables it; whatever the form shows comes back from a browser."""
    request = rf.get("/")
    request.user = User(is_superuser=True)
    form_class = PatternAdmin(Pattern, admin.site).get_form(request, Pattern())
    edited = []
    for record in library.read().records:
        pattern = Pattern(key=record.key)
        pattern.take(record.values)
        shown = form_class(instance=pattern)
        typed = {name: as_a_browser_sends(shown[name].value()) for name in shown.fields}
        sent = form_class({**typed, "is_draft": "on"}, instance=pattern)
        if not sent.is_valid() or sent.save(commit=False).is_edited:
            edited.append((record.key, sent.errors))

    assert edited == []


def as_a_browser_sends(shown: Any) -> str:
    return str(shown).replace("\n", "\r\n")


def test_what_ships_cannot_be_deleted_and_what_people_wrote_can(
    admin_client: Client, call: Call, know: Know
) -> None:
    own, ships = know("module-missing"), know("disk-full", shipped={})

    admin_client.post(f"{PATTERNS}{own.pk}/delete/", {"post": "yes"})
    refused = admin_client.post(f"{PATTERNS}{ships.pk}/delete/", {"post": "yes"})

    assert refused.status_code == 403
    assert [pattern.key for pattern in Pattern.objects.all()] == ["disk-full"]
    assert likeliest(call, "ModuleNotFoundError: No module named 'yaml'") is None


def test_patterns_are_searched_by_meaning_and_filtered(admin_client: Client, know: Know) -> None:
    know("disk-full")
    know("module-missing")

    found = admin_client.get(PATTERNS, {"q": "package not installed"}).context["cl"].queryset
    own = admin_client.get(PATTERNS, {"origin": "own"}).context["cl"].queryset
    offers = admin_client.get(PATTERNS, {"origin": "offer"}).context["cl"].queryset

    assert found[0].key == "module-missing"
    assert (own.count(), offers.count()) == (2, 0)


def test_a_solved_session_becomes_a_draft_that_is_published(
    admin_client: Client, call: Call, know: Know
) -> None:
    know("disk-full")
    error = "WarpError: the warp core lost phase lock"
    session = call("troubleshoot", error_message=error, tags=["warp"]).session_id
    call("troubleshoot_feedback", session_id=session, worked=False, fixed_by="Tighten bolt 9")
    unsolved = call("troubleshoot", error_message=DISK_FULL).session_id
    chosen = {"action": "draft_patterns", "_selected_action": [session, unsolved]}

    page = admin_client.post(SESSIONS, chosen, follow=True)
    draft = Pattern.objects.get(is_draft=True)
    before = likeliest(call, error)
    published = admin_client.post(
        PATTERNS, {"action": "publish", "_selected_action": [draft.pk]}, follow=True
    )

    assert "Drafted own-warperror" in messages_of(page)
    assert f"session {unsolved} does not say what fixed it" in messages_of(page)
    assert (draft.errors, draft.cause, draft.tags) == ([error], "Tighten bolt 9", ["warp"])
    assert before != draft.key
    assert "is published" in messages_of(published)
    drafted, _ = LogEntry.objects.order_by("pk")
    assert (drafted.is_addition(), drafted.object_id) == (True, str(draft.pk))
    assert likeliest(call, error) == draft.key


def test_a_session_solved_by_a_saved_fix_becomes_a_draft_and_one_of_a_pattern_does_not(
    admin_client: Client, call: Call, know: Know
) -> None:
    know("disk-full")
    error, fix = "WarpError: the warp core lost phase lock", "Run `rm -rf /var/warp/cache`"
    call("remediation_save", error_message=error, error_type="WarpError", solution=fix)
    sessions = [call("troubleshoot", error_message=one).session_id for one in (error, DISK_FULL)]
    for session in sessions:
        call("troubleshoot_feedback", session_id=session, worked=True)

    chosen = {"action": "draft_patterns", "_selected_action": sessions}
    page = admin_client.post(SESSIONS, chosen, follow=True)

    draft = Pattern.objects.get(is_draft=True)
    assert (draft.cause, draft.fix) == (fix, [{"do": fix, "run": "", "destructive": True}])
    assert f"session {sessions[1]} was solved by the pattern disk-full" in messages_of(page)


@pytest.mark.parametrize("error", ["WarpError: the core is cold", "ошибка: ядро остыло"])
def test_each_solved_session_of_the_same_error_becomes_a_draft(
    admin_client: Client, call: Call, know: Know, error: str
) -> None:
    sessions = [call("troubleshoot", error_message=error).session_id for _ in range(3)]
    for session in sessions:
        call("troubleshoot_feedback", session_id=session, worked=True, fixed_by="Warm it up")

    chosen = {"action": "draft_patterns", "_selected_action": sessions}
    page = admin_client.post(SESSIONS, chosen, follow=True)

    assert page.status_code == 200
    assert Pattern.objects.filter(is_draft=True).count() == 3


def test_sessions_are_shown_and_not_edited(admin_client: Client, call: Call, know: Know) -> None:
    know("disk-full")
    session = call("troubleshoot", error_message=DISK_FULL).session_id

    listed = admin_client.get(SESSIONS).content.decode()
    page = admin_client.get(f"{SESSIONS}{session}/change/").content.decode()
    admin_client.post(f"{SESSIONS}{session}/change/", {"status": "solved"})

    assert "No space left on device" in listed
    assert "disk-full" in page
    assert Diagnosis.objects.get().status == "open"
    assert admin_client.get(f"{SESSIONS}add/").status_code == 403


def test_patterns_that_people_wrote_are_deleted_together(admin_client: Client, know: Know) -> None:
    chosen = [know("module-missing").pk, know("disk-full").pk]
    form = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}

    admin_client.post(PATTERNS, form)

    assert not Pattern.objects.exists()


def test_the_hypotheses_of_a_session_are_listed_and_escaped(
    admin_client: Client, call: Call, know: Know
) -> None:
    pattern = know("disk-full", title="The disk is <b>full</b>")
    session = call("troubleshoot", error_message=DISK_FULL).session_id

    page = admin_client.get(f"{SESSIONS}{session}/change/").content.decode()

    assert "<strong>The disk is &lt;b&gt;full&lt;/b&gt;</strong>, probability 0." in page
    assert pattern.fix[0]["do"] in html.unescape(page)
    assert "&quot;root_cause&quot;" not in page
