"""One search box over all kinds of records."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from analytics import recording
from analytics.models import Event
from contextd import search
from contextd.models import Project
from contexts.models import Context
from pages import views
from skills.models import Skill
from tests.conftest import Call

MAX_QUERIES = 17


def results_of(page: Any) -> dict[str, list[str]]:
    """By kind, what the links to records say."""
    assert page.status_code == 200
    answer = page.context["answer"]
    return {
        group.domain.name: ["".join(piece.text for piece in one.title) for one in group.results]
        for group in answer.groups
    }


@pytest.fixture
def filled(call: Call) -> None:
    call(
        "checkpoint_save",
        summary="Flaky payment webhook retried",
        description="The payment webhook failed and was retried twice.",
        project_path="/w/shop",
    )
    call(
        "remediation_save",
        error_message="PaymentError: webhook signature mismatch",
        error_type="PaymentError",
        solution="Rotate the webhook secret",
    )
    call(
        "skill_create",
        name="Debug payment webhooks",
        description="How to find out why a payment webhook fails",
        content="Look at the payment webhook log.",
        version="1.0.0",
        author="ann",
        category="debugging",
    )


def test_all_kinds_are_searched_at_once(here: Client, filled: None) -> None:
    page = here.get("/dashboard/search/", {"q": "payment webhook"})

    found = results_of(page)
    assert found["checkpoint"] == ["Flaky payment webhook retried"]
    assert found["remediation"] == ["PaymentError: webhook signature mismatch"]
    assert found["skill"] == ["Debug payment webhooks 1.0.0"]
    text = page.content.decode()
    assert "Flaky <mark>payment</mark> <mark>webhook</mark> retried" in text
    assert "Debug <mark>payment</mark> <mark>webhooks</mark>" in text  # whatever the ending
    assert '<span class="quiet">in shop</span>' in text


def test_one_kind_alone_can_be_searched(here: Client, filled: None) -> None:
    page = here.get("/dashboard/search/", {"q": "payment webhook", "kind": "skill"})

    assert list(results_of(page)) == ["skill"]


def test_what_is_typed_is_answered_with_the_results_alone(here: Client, filled: None) -> None:
    asked = {"q": "payment webhook"}

    part = here.get("/dashboard/search/", asked, headers={"HX-Request": "true"})

    text = part.content.decode()
    assert "<html" not in text
    assert "Debug <mark>payment</mark>" in text
    assert '<p id="found" hx-swap-oob="innerHTML">3 results in 3 kinds of records.' in text
    assert "HX-Request" in part["Vary"]
    restored = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert b"<html" in here.get("/dashboard/search/", asked, headers=restored).content


def test_texts_cannot_become_part_of_the_page(here: Client, call: Call) -> None:
    call("checkpoint_save", summary="<script>alert(1)</script> parser", project_path="/w/<b>")

    text = here.get("/dashboard/search/", {"q": "parser <script>"}).content.decode()

    assert "&lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt;" in text
    assert 'value="parser &lt;script&gt;"' in text
    assert "<script>alert" not in text


def test_more_of_a_kind_are_led_to(here: Client, call: Call) -> None:
    for number in range(8):
        call("checkpoint_save", summary=f"Mended the parser, {number}", project_path="/w/shop")

    page = here.get("/dashboard/search/", {"q": "parser"})

    assert len(results_of(page)["checkpoint"]) == 5
    assert 'href="/dashboard/search/?q=parser&amp;kind=checkpoint">More' in page.content.decode()
    all_of_them = here.get("/dashboard/search/", {"q": "parser", "kind": "checkpoint"})
    assert len(results_of(all_of_them)["checkpoint"]) == 8


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "Search everything"),
        ({"q": "   "}, "Search everything"),
        ({"q": "nothing has this"}, "Nothing was found that you may see."),
        ({"q": "x" * 1001}, "at most 1000 characters"),
        ({"q": "nul\0"}, "Null characters are not allowed."),
        ({"q": "parser", "kind": "recipe"}, "Select a valid choice"),
    ],
)
def test_what_finds_nothing_says_why(here: Client, asked: dict[str, str], said: str) -> None:
    page = here.get("/dashboard/search/", asked)

    assert page.status_code == 200
    assert said in page.content.decode()


def test_one_finds_what_ones_own_calls_would_find(client: Client, filled: None, call: Call) -> None:
    call("checkpoint_save", summary="Payment webhook of another", project_path="/w/secret")
    context = Context.objects.get(name="default")
    context.projects.set(Project.objects.filter(name="shop"))
    Context.objects.filter(pk=context.pk).update(all_projects=False)
    client.force_login(User.objects.create_user("ann"))
    asked = {"q": "payment webhook"}

    assert results_of(client.get("/dashboard/search/", asked)) == {
        "checkpoint": ["Flaky payment webhook retried"],
        "remediation": ["PaymentError: webhook signature mismatch"],
        "skill": ["Debug payment webhooks 1.0.0"],
    }
    Context.objects.filter(pk=context.pk).update(tools=["analytics_get", "skill_*"])
    assert list(results_of(client.get("/dashboard/search/", asked))) == ["skill"]
    Context.objects.filter(pk=context.pk).update(tools=["skill_*"])
    assert client.get("/dashboard/search/", asked).status_code == 403


def test_drafts_are_found_by_those_who_curate(
    client: Client, admin_client: Client, filled: None
) -> None:
    Skill.objects.update(state="draft")
    client.force_login(User.objects.create_user("ann"))
    asked = {"q": "payment webhook"}

    assert "skill" in results_of(admin_client.get("/dashboard/search/", asked))
    assert "skill" not in results_of(client.get("/dashboard/search/", asked))


def test_searching_here_is_no_call(here: Client, filled: None) -> None:
    recording.buffer.flush()
    before = Event.objects.count()

    here.get("/dashboard/search/", {"q": "payment webhook"})
    recording.buffer.flush()

    assert Event.objects.count() == before


@pytest.mark.django_db
def test_too_many_searches_are_refused(here: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "SEARCHES", "1/h")

    answers = [here.get("/dashboard/search/") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1]["Retry-After"]) > 1
    assert b"too many requests" in answers[1].content


def test_its_queries_are_few(
    here: Client, filled: None, django_assert_max_num_queries: Any
) -> None:
    here.get("/dashboard/search/", {"q": "payment"})

    with django_assert_max_num_queries(MAX_QUERIES):
        here.get("/dashboard/search/", {"q": "payment webhook"})


@given(query=st.text(max_size=30), text=st.text(max_size=600))
def test_marking_changes_no_character(query: str, text: str) -> None:
    assert "".join(piece.text for piece in search.marked(query, text)) == text


def test_an_excerpt_is_where_most_words_stand() -> None:
    text = "Parsers exist. " + "nothing here " * 50 + "the parser fails on commas" + " more" * 100

    pieces = search.excerpt("parser failed on a comma", text)

    assert [piece.text for piece in pieces if piece.is_match] == ["parser", "fails", "commas"]
    assert pieces[0].text == pieces[-1].text[::-1] == "… "
