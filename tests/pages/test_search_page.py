"""One search box over all kinds of records."""

from typing import Any

import pytest
from django.test import Client

from tests.conftest import Call

MOST_QUERIES = 60


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
