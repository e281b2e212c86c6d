"""People browse, edit and publish threats in the admin, and keep their edits over upgrades."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from contextd import changes, shipped
from contextd.bus import Change
from contextd.callers import Caller
from contextd.errors import Invalid
from tests.conftest import Call
from tests.threats.conftest import FEW, LoadFrom
from threats import services
from threats.admin import ThreatRows
from threats.models import Threat

LIST = "/admin/threats/threat/"
KEY = "TMKB-AUTHZ-001"
KEYWORD = "triggers.keywords.0 contains a credential, which is not allowed there"

pytestmark = pytest.mark.django_db(transaction=True)


def page_of(client: Client, key: str = KEY) -> Any:
    return client.get(f"{LIST}{Threat.objects.get(key=key).pk}/change/")


def written(client: Client, key: str = KEY) -> str:
    return str(page_of(client, key).context["adminform"].form.initial["content"])


def opened(client: Client, key: str = KEY) -> str:
    return str(page_of(client, key).context["adminform"].form["opened"].value())


def write(client: Client, text: str, key: str = KEY, **fields: str) -> Any:
    pk = Threat.objects.get(key=key).pk
    form = {"content": text, "is_published": "on", "opened": opened(client, key), **fields}
    return client.post(f"{LIST}{pk}/change/", form, follow=True)


def shown(client: Client, **query: str) -> list[str]:
    page: Any = client.get(LIST, query)
    return [threat.key for threat in page.context["cl"].queryset]


def act(client: Client, action: str, key: str = KEY) -> None:
    pk = Threat.objects.get(key=key).pk
    form = {"action": action, "_selected_action": [pk], "post": "yes"}
    client.post(LIST, form, follow=True)


@pytest.fixture
def listings() -> Iterator[list[list[str]]]:
    """The threats, each time that clients are asked to list them again."""
    heard: list[list[str]] = []

    def hear(news: object) -> None:
        if news != Change(kind="resources"):
            return
        published = Threat.objects.filter(is_published=True).order_by("key")
        heard.append(list(published.values_list("key", flat=True)))

    end = changes.subscribe(hear)
    yield heard
    end()


def upgrade(folder: Path, load_from: LoadFrom) -> shipped.Loaded:
    """The next version ships another name."""
    path = folder / f"{KEY}.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["threat_pattern"]["name"] = "The name of the next version"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return shipped.load(load_from(folder))


def test_they_are_listed_and_filtered(admin_client: Client, few: Path) -> None:
    assert KEY in shown(admin_client)
    assert shown(admin_client, category="injection") == ["TMKB-INJ-001", "TMKB-INJ-003"]
    assert len(shown(admin_client, origin="shipped")) == 6


def test_the_search_box_finds_them(admin_client: Client, few: Path, warm_model: None) -> None:
    assert shown(admin_client, q="background jobs")[0] == KEY


def test_an_edited_one_is_told_and_found_by_its_new_words(
    admin_client: Client, few: Path, call: Call
) -> None:
    text = written(admin_client).replace("- background job\n", "- zeppelin\n")
    write(admin_client, text.replace("severity: high", "severity: low"))

    assert call("threat_get", id=KEY).severity == "low"
    assert call("tmkb_query", context="zeppelin").patterns[0].id == KEY
    assert shown(admin_client, origin="edited") == [KEY]


def test_who_reads_one_is_told_when_it_is_edited_or_published(
    admin_client: Client, few: Path, warm_model: None, told: list[str | None]
) -> None:
    write(admin_client, written(admin_client).replace("severity: high", "severity: low"))
    edited = told.copy()
    told.clear()
    act(admin_client, "make_drafts")

    assert edited == told == [None, f"threat://{KEY}"]


def test_who_reads_one_is_told_when_its_newer_text_is_taken_or_it_is_deleted(
    admin_client: Client, few: Path, load_from: LoadFrom, told: list[str | None]
) -> None:
    write(admin_client, written(admin_client).replace("severity: high", "severity: low"))
    upgrade(few, load_from)
    told.clear()
    act(admin_client, "take_offered")
    taken = told.copy()
    Threat.objects.filter(key=KEY).update(shipped=None)
    told.clear()
    act(admin_client, "delete_selected")

    assert taken == told == [None, f"threat://{KEY}"]


def test_an_edit_survives_an_upgrade_and_the_newer_text_can_be_taken(
    admin_client: Client, few: Path, call: Call, load_from: LoadFrom
) -> None:
    write(admin_client, written(admin_client).replace("severity: high", "severity: low"))
    upgrade(few, load_from)
    kept = call("threat_get", id=KEY)
    told = page_of(admin_client).content.decode()
    act(admin_client, "take_offered")
    assert "adopted the newer shipped text" in LogEntry.objects.latest("pk").get_change_message()
    taken = call("threat_get", id=KEY)

    assert (kept.severity, kept.name) != ("high", "The name of the next version")
    assert "+  name: The name of the next version" in told
    assert "-  severity: low" in told
    assert (taken.severity, taken.name) == ("high", "The name of the next version")


def test_an_edit_never_overwrites_one_that_came_in_between(
    admin_client: Client, few: Path, call: Call
) -> None:
    text, first = written(admin_client), opened(admin_client)
    write(admin_client, text.replace("severity: high", "severity: low"))
    page = write(admin_client, text.replace("likelihood: high", "likelihood: low"), opened=first)

    assert "changed since you opened this page" in page.content.decode()
    assert call("threat_get", id=KEY).severity == "low"
    act(admin_client, "make_drafts")
    write(admin_client, written(admin_client), opened=first)
    assert not Threat.objects.get(key=KEY).is_published


def test_a_form_from_before_an_upgrade_is_refused_so_that_its_text_is_not_hidden(
    admin_client: Client, few: Path, load_from: LoadFrom
) -> None:
    text, first = written(admin_client), opened(admin_client)
    upgrade(few, load_from)
    write(admin_client, text.replace("severity: high", "severity: low"), opened=first)

    threat = Threat.objects.get(key=KEY)
    assert (threat.name, threat.origin) == ("The name of the next version", "as shipped")


def test_an_edit_leaves_the_offer_of_a_concurrent_upgrade(few: Path, load_from: LoadFrom) -> None:
    row = Threat.objects.get(key=KEY)
    pattern = row.read().model_copy(update={"severity": "low"})
    services.write(Threat.objects.get(key=KEY), pattern)
    upgrade(few, load_from)
    services.write(row, pattern)  # read before the upgrade

    assert Threat.objects.get(key=KEY).origin == "edited, newer text available"


def test_what_is_wrong_is_said_beside_what_was_typed(admin_client: Client, few: Path) -> None:
    text = written(admin_client).replace("severity: high", "severity: grave")
    page = write(admin_client, text)

    errors = page.context["adminform"].form.errors["content"]
    assert errors[0].startswith("Line ")
    assert "severity: input should be" in errors[0]
    assert "severity: grave" in page.content.decode()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("last_updated: ", "last_updated: 2024-02-30 #", "2024-02-30 is not a valid timestamp"),
        ("severity: high", "severity: &a {x: *a}", "it is nested too deeply, or contains itself"),
        ("- background job\n", f"- https://me:pw12345@example.com/{'x' * 25}\n", KEYWORD),
        ("  - id: TMKB-AUTHZ-004\n", "  - id: TMKB-AUTHZ-099\n", "no other threat TMKB-AUTHZ-099"),
    ],
)
def test_whatever_cannot_be_kept_is_said(
    admin_client: Client, few: Path, old: str, new: str, message: str
) -> None:
    text = written(admin_client)
    assert old in text
    page = write(admin_client, text.replace(old, new, 1))

    assert message in page.context["adminform"].form.errors["content"][0]


@pytest.mark.parametrize(
    ("new", "message"),
    [("TMKB-AUTHZ-999", "cannot be changed"), ("TMKB-INJ-001", "cannot be changed")],
)
def test_an_id_is_not_changed(admin_client: Client, few: Path, new: str, message: str) -> None:
    text = (
        written(admin_client).replace(KEY, new).replace("MIT-AUTHZ-001", new.replace("TMKB", "MIT"))
    )
    page = write(admin_client, text)

    assert message in page.context["adminform"].form.errors["content"][0]


def test_people_add_their_own_and_delete_them(admin_client: Client, few: Path, call: Call) -> None:
    example = Path(__file__).parent / "example.yaml"
    text = example.read_text(encoding="utf-8")
    admin_client.post(f"{LIST}add/", {"content": text, "is_published": "on"})
    again = admin_client.post(f"{LIST}add/", {"content": text, "is_published": "on"})
    found = call("tmkb_query", context="redeem a coupon").patterns[0].id
    act_page = Threat.objects.get(key="TMKB-EXAMPLE-001").pk
    admin_client.post(f"{LIST}{act_page}/delete/", {"post": "yes"})

    assert "already" in again.context["adminform"].form.errors["content"][0]
    assert found == "TMKB-EXAMPLE-001"
    assert not Threat.objects.filter(key="TMKB-EXAMPLE-001").exists()
    assert call("tmkb_query", context="redeem a coupon").pattern_count == 0


def test_ids_that_later_versions_may_ship_are_refused(
    admin_client: Client, few: Path, caller: Caller
) -> None:
    text = (Path(__file__).parent / "example.yaml").read_text(encoding="utf-8")
    text = text.replace("-EXAMPLE-", "-INJ-").replace("INJ-001", "INJ-901")
    page = admin_client.post(f"{LIST}add/", {"content": text, "is_published": "on"})

    reason = "ids that begin with TMKB-INJ are kept for threats that ship; use letters of your own"
    assert reason in page.context["adminform"].form.errors["content"][0]
    row = {"key": "TMKB-INJ-901", "is_published": True, "content": yaml.safe_load(text)}
    with pytest.raises(Invalid, match=reason):
        ThreatRows(caller).write(None, row)


def test_what_ships_cannot_be_deleted_but_made_a_draft(
    admin_client: Client, few: Path, call: Call
) -> None:
    pk = Threat.objects.get(key=KEY).pk
    deleted = admin_client.post(f"{LIST}{pk}/delete/", {"post": "yes"})
    act(admin_client, "make_drafts")
    seen = [threat.id for threat in call("threat_list").threats]
    act(admin_client, "publish")

    assert deleted.status_code == 403
    assert KEY not in seen
    assert KEY in [threat.id for threat in call("threat_list").threats]


def test_clients_are_told_of_every_change(
    admin_client: Client, few: Path, load_from: LoadFrom, listings: list[list[str]]
) -> None:
    everything = [f"TMKB-{key}" for key in sorted(FEW)]
    act(admin_client, "make_drafts")
    act(admin_client, "publish")
    write(admin_client, written(admin_client).replace("severity: high", "severity: low"))
    upgrade(few, load_from)
    act(admin_client, "take_offered")
    Threat.objects.filter(key="TMKB-INJ-003").update(shipped=None)
    act(admin_client, "delete_selected", "TMKB-INJ-003")

    without = [[one for one in everything if one != gone] for gone in (KEY, "TMKB-INJ-003")]
    assert listings == [without[0], everything, everything, everything, without[1]]


@pytest.mark.parametrize("by", ["publishing", "editing"])
def test_what_ships_no_more_can_be_brought_back(
    admin_client: Client, few: Path, call: Call, load_from: LoadFrom, by: str
) -> None:
    text = written(admin_client)
    (few / f"{KEY}.yaml").unlink()
    Threat.objects.filter(key=KEY).update(is_retired=True)
    gone = call("tmkb_query", context="background jobs").patterns
    if by == "publishing":
        act(admin_client, "publish")
    else:
        write(admin_client, text)
    shipped.load(load_from(few))

    assert KEY not in [one.id for one in gone]
    assert call("tmkb_query", context="background jobs").patterns[0].id == KEY
    assert Threat.objects.get(key=KEY).origin == "own"


def test_coverage_is_for_those_who_may_see_threats(client: Client, few: Path) -> None:
    clerk = User.objects.create_user("clerk", is_staff=True)
    client.force_login(clerk)
    refused = client.get(f"{LIST}coverage/")
    clerk.user_permissions.add(Permission.objects.get(codename="view_threat"))
    shown = client.get(f"{LIST}coverage/")

    assert (refused.status_code, shown.status_code) == (403, 200)


def test_coverage_shows_what_has_threats_and_what_has_none(admin_client: Client, few: Path) -> None:
    page = admin_client.get(f"{LIST}coverage/").content.decode()

    assert "Broken Object Level Authorization" in page
    assert KEY in page
    assert "none" in page
    assert "CWE-862" in page
