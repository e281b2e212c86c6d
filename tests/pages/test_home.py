"""The home page of the dashboard."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import Client

from analytics import tallying
from analytics.models import WorkSession
from contextd.models import Project
from contexts.models import Context
from remediations.models import Remediation
from skills.models import Skill
from tests.analytics.conftest import Happened
from tests.conftest import Call

pytestmark = pytest.mark.django_db

MAX_QUERIES = 18


def text_of(page: Any) -> str:
    assert page.status_code == 200
    return " ".join(page.content.decode().split())


def test_without_calls_it_says_so(here: Client) -> None:
    page = text_of(here.get("/dashboard/"))

    assert "No calls yet." in page
    assert page.count("no data") == 4
    assert "<canvas" not in page


def test_it_shows_what_was_called(here: Client, happened: Happened) -> None:
    shop = Project.objects.create(name="shop")
    fix = Remediation.objects.create(
        error_message="KeyError: 'price'", error_type="KeyError", solution="Set it"
    )
    for days in (0, 8):
        happened("remediation_save", days_ago=days, project=shop, client="editor")
    happened("remediation_get", domain="remediation", used=fix.pk, milliseconds=12.0)
    happened("remediation_search", domain="remediation", query="<b>boom</b>", found=[])

    page = text_of(here.get("/dashboard/"))

    told = "<strong>0</strong> <span>1 in the 7 days before, 1 today so far</span>"
    assert f"<dt>Successful saves</dt> <dd>{told}" in page
    assert f'<a href="/dashboard/records/remediation/{fix.pk}/">KeyError' in page
    assert page.count("&lt;b&gt;boom&lt;/b&gt;") == 2  # of errors, and of what found nothing
    assert '<th scope="row">shop</th><td class="number">2</td>' in page
    assert '<th scope="row">editor</th><td class="number">2</td>' in page
    assert page.count("<canvas") == 2
    assert 'id="series"' in page


def test_until_a_day_is_over_the_numbers_are_those_of_today(
    here: Client, happened: Happened
) -> None:
    happened("remediation_save")

    page = text_of(here.get("/dashboard/"))

    shown = "<strong>1</strong> <span>today so far, none in the 14 days before</span>"
    assert f"<dt>Successful saves</dt> <dd>{shown}" in page


def test_an_error_that_was_looked_up_shows_the_fix_found_last(
    here: Client, happened: Happened
) -> None:
    fix = Remediation.objects.create(error_message="boom", error_type="Boom", solution="restart")
    happened("remediation_search", days_ago=1, domain="remediation", query="boom", found=[])
    happened("remediation_search", domain="remediation", query="boom", found=[fix.pk, fix.pk + 1])
    happened("remediation_search", domain="remediation", query="crash", found=[])

    page = text_of(here.get("/dashboard/"))

    of_boom = '<th scope="row">boom</th><td class="number">2</td><td class="number">1</td>'
    assert f'{of_boom}<td><a href="/dashboard/records/remediation/{fix.pk}/">boom</a>' in page
    of_crash = '<th scope="row">crash</th><td class="number">1</td><td class="number">1</td>'
    assert f"{of_crash}<td>none found</td>" in page


def test_a_fix_that_was_saved_since_is_shown(here: Client, counted: Call) -> None:
    error = "WarpError: the warp core lost phase lock"
    counted("troubleshoot", error_message=error)
    before = text_of(here.get("/dashboard/errors/"))
    fix = counted("remediation_save", error_message=error, error_type="E", solution="Lock it")

    after = text_of(here.get("/dashboard/errors/", {"days": "7"}, headers={"HX-Request": "true"}))

    assert "none known" in before
    assert f'<a href="/dashboard/records/remediation/{fix.id}/">WarpError' in after


def test_what_is_gone_takes_no_place_among_the_most_used(here: Client, happened: Happened) -> None:
    skill = Skill.objects.create(
        name="Deploy", slug="deploy", version="1.0.0", content="x", token_count=1
    )
    for gone in range(20):
        for _ in range(2):
            happened("skill_apply", domain="skill", used=skill.pk + 1 + gone)
    happened("skill_apply", domain="skill", used=skill.pk)

    shown = here.get("/dashboard/").context["shown"]

    assert [one.record.pk for one in shown.skills] == [skill.pk]


def test_an_invalid_filter_leaves_the_others_in_force(here: Client, happened: Happened) -> None:
    happened("status", days_ago=20)
    happened("skill_list", outcome="timeout")
    happened("skill_list")

    home = here.get("/dashboard/", {"days": "7", "project": "999999"})
    live = here.get("/dashboard/live/", {"outcome": "unheard", "operation": "status"})
    search = here.get("/dashboard/search/", {"kind": "unheard", "q": "boom"})

    assert "Select a valid choice" in text_of(home)
    assert home.context["shown"].report.period == "7 days"
    assert [call.operation for call in live.context["calls"]] == ["status"]
    assert search.context["query"] == "boom"


def test_connected_sessions_are_those_of_the_chosen_project(
    here: Client, happened: Happened
) -> None:
    shop, bank = (Project.objects.create(name=name) for name in ("shop", "bank"))
    for project in (shop, bank):
        session = happened("status", project=project).session
        WorkSession.objects.filter(pk=session.pk).update(projects=[project.pk])

    shown = here.get("/dashboard/", {"project": shop.pk}).context["shown"]
    everything = here.get("/dashboard/").context["shown"]

    assert [session.projects for session in shown.connected] == [[shop.pk]]
    assert len(everything.connected) == 2


def test_connected_sessions_are_ones_own_but_for_managers(
    client: Client, happened: Happened
) -> None:
    ann = User.objects.create_user("ann")
    client.force_login(ann)
    mine = happened("status").session
    happened("status")
    WorkSession.objects.filter(pk=mine.pk).update(principal=f"user:{ann.pk}")

    def connected() -> list[WorkSession]:
        found: list[WorkSession] = client.get("/dashboard/").context["shown"].connected
        return found

    assert connected() == [mine]
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    assert len(connected()) == 2


def test_projects_of_one_name_are_told_apart(here: Client, happened: Happened) -> None:
    remote = "github.com/acme/shop"
    ours, theirs = Project.objects.create(name="shop", git_remote=remote), Project(name="shop")
    theirs.save()
    for project in (ours, ours, theirs):
        happened("status", project=project)

    shown = here.get("/dashboard/").context["shown"]

    assert [(place.name, place.count) for place in shown.projects] == [
        (f"shop ({remote})", 2),
        (f"shop ({theirs.pk})", 1),
    ]
    for address in ("/dashboard/", "/dashboard/live/"):
        page = text_of(here.get(address))
        assert f">shop ({remote})</option>" in page
        assert f'<option value="{theirs.pk}">shop ({theirs.pk})</option>' in page


def test_other_servers_tools_save_no_records_of_ours(here: Client, happened: Happened) -> None:
    for operation in ("checkpoint_save", "notes__page_create"):
        happened(operation, days_ago=1)

    saved = here.get("/dashboard/").context["shown"].weeks[0]

    assert (saved.name, saved.now) == ("Successful saves", 1)


def test_skills_and_connected_clients_have_lists_of_their_own(
    here: Client, happened: Happened
) -> None:
    skill = Skill.objects.create(
        name="Deploy", slug="deploy", version="1.0.0", content="x", token_count=1
    )
    happened("skill_apply", domain="skill", used=skill.pk)
    happened("status", days_ago=2)

    shown = here.get("/dashboard/").context["shown"]

    assert [(one.record.title, one.count) for one in shown.skills] == [("Deploy 1.0.0", 1)]
    assert [one.client for one in shown.connected] == ["c"]


def test_lists_of_single_calls_go_back_beyond_what_is_tallied(
    here: Client, happened: Happened
) -> None:
    skill = Skill.objects.create(
        name="Deploy", slug="deploy", version="1.0.0", content="x", token_count=1
    )
    happened("skill_apply", days_ago=2, domain="skill", used=skill.pk, client="editor")
    happened("skill_search", days_ago=2, domain="skill", query="undo", found=[], client="editor")
    tallying.roll_up()

    shown = here.get("/dashboard/").context["shown"]

    assert [one.count for one in shown.skills] == [1]
    assert [(place.name, place.count) for place in shown.clients] == [("editor", 2)]
    assert [place.name for place in shown.unanswered] == ["undo"]


def test_each_chart_has_its_numbers_in_a_table(here: Client, happened: Happened) -> None:
    happened("status", milliseconds=100.0, outcome="timeout")

    page = text_of(here.get("/dashboard/", {"days": "7"}))

    assert page.count('<td class="number">1</td><td class="number">1</td></tr>') >= 1
    assert '<th scope="row">status</th>' in page
    assert len(here.get("/dashboard/", {"days": "7"}).context["shown"].days) == 7


def test_the_table_of_latencies_has_every_operation(here: Client, happened: Happened) -> None:
    for number in range(10):
        happened(f"operation_{number}")

    page = here.get("/dashboard/")

    assert text_of(page).count('<th scope="row">operation_') == 10
    assert len(page.context["series"]["latencies"]["p50"]) == 8


def test_it_can_be_of_one_project(here: Client, happened: Happened) -> None:
    shop, other = (Project.objects.create(name=name) for name in ("shop", "other"))
    happened("status", project=shop)
    happened("checkpoint_get", project=other)

    page = text_of(here.get("/dashboard/", {"project": shop.pk}))

    assert '<th scope="row">status</th>' in page
    assert '<th scope="row">checkpoint_get</th>' not in page


def test_what_cannot_be_chosen_changes_nothing(here: Client) -> None:
    page = text_of(here.get("/dashboard/", {"days": "5000", "project": "x"}))

    assert "Select a valid choice" in page


def test_people_elsewhere_log_in_first(client: Client, ann: User, admin_client: Client) -> None:
    elsewhere = client.get("/dashboard/", REMOTE_ADDR="192.0.2.7")

    assert elsewhere.status_code == 302
    assert elsewhere["Location"] == "/dashboard/login/?next=/dashboard/"
    assert admin_client.get("/dashboard/", REMOTE_ADDR="192.0.2.7").status_code == 200
    Context.objects.filter(name="default").update(is_open=False)
    client.force_login(ann)
    refused = client.get("/dashboard/", REMOTE_ADDR="192.0.2.7")
    assert (refused.status_code, b"may not use the context" in refused.content) == (403, True)


def test_who_is_no_staff_logs_in_and_out(client: Client) -> None:
    User.objects.create_user("eve", password="a secret")
    form = client.get("/dashboard/login/", {"next": "/dashboard/live/"})
    assert b'name="password"' in form.content

    said = {"username": "eve", "password": "a secret", "next": "/dashboard/live/"}
    wrong = client.post("/dashboard/login/", {**said, "password": "guessed"})
    right = client.post("/dashboard/login/", said)

    assert "Please enter a correct username" in text_of(wrong)
    assert right["Location"] == "/dashboard/live/"
    assert "Log out eve" in text_of(client.get("/dashboard/", REMOTE_ADDR="192.0.2.7"))
    assert client.post("/dashboard/logout/")["Location"] == "/dashboard/login/"
    assert client.get("/dashboard/", REMOTE_ADDR="192.0.2.7").status_code == 302


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann")


def test_health_is_told_by_itself(here: Client) -> None:
    page = text_of(here.get("/dashboard/health/"))

    assert "database: healthy" in page
    assert "analytics: healthy" in page


def test_health_is_a_page_without_javascript(here: Client) -> None:
    whole = text_of(here.get("/dashboard/health/"))
    part = text_of(here.get("/dashboard/health/", headers={"HX-Request": "true"}))

    assert "<title>Health" in whole
    assert "<html" not in part
    assert part in whole


def test_nothing_comes_from_elsewhere(here: Client, happened: Happened) -> None:
    happened("status")

    page = text_of(here.get("/dashboard/"))

    assert "http://" not in page
    assert "https://" not in page
    scripts = ["chart/chart.js", "chart/LICENSE", "django_htmx/htmx-2.min.js"]
    for name in [*scripts, "pages/charts.js", "pages/pages.css"]:
        assert finders.find(name), name


def test_more_calls_ask_no_more_queries(
    here: Client, happened: Happened, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        happened(f"operation_{number}", client=f"client {number}", query=f"q {number}", found=[])

    with django_assert_max_num_queries(MAX_QUERIES):
        here.get("/dashboard/")


def test_the_root_leads_to_it(here: Client) -> None:
    assert here.get("/")["Location"] == "/dashboard/"


def test_the_page_of_the_data_leads_back_to_the_dashboard(here: Client) -> None:
    page = text_of(here.get("/api/dashboard/", {"format": "api"}))

    assert '<a class="navbar-brand" href="/dashboard/">contextd</a>' in page
    assert "Django REST framework" not in page


def test_what_is_missing_is_told_on_a_page_of_our_own(here: Client) -> None:
    page, of_api = here.get("/dashboard/nope/"), here.get("/api/nope/")

    assert (page.status_code, of_api.status_code) == (404, 404)
    assert "pages/pages.css" in page.content.decode()
    assert '<a href="/dashboard/">Dashboard</a>' in page.content.decode()
    assert of_api.json()["category"] == "not_found"


def test_the_data_has_pages_for_the_dark(here: Client) -> None:
    page = here.get("/api/dashboard/", {"format": "api"}).content.decode()

    assert "/static/pages/data.css" in page
    assert finders.find("pages/data.css")
