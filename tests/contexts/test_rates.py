"""How often may be called: a context's own rate, and one of each user's over all connections."""

import dataclasses
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User

from contextd import limits, operations
from contextd.callers import Caller, Entry
from contextd.errors import RateLimited
from contextd.rates import Rate
from contexts import tokens
from contexts.models import AuditEntry, Token
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant
from tests.plain_http import modern

pytestmark = pytest.mark.django_db


def calls_until_refused(post: Post, **chosen: Any) -> int:
    for number in range(100):
        answer = post("checkpoint_list", **chosen)
        if answer.status_code == 429:
            assert answer.json()["message"] == "rate limit exceeded for tool: checkpoint_list"
            assert answer.json()["details"]["retry_after"] > 0
            return number
    return 100


def test_a_context_has_its_own_rate(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    slow = make_context("slow", calls_per_second=1, calls_at_once=2)
    grant(slow, ann)
    token = token_of(ann)

    assert calls_until_refused(post, token=token, context="slow") == 2
    # In another context, which is another connection, the tool's own rate counts.
    assert calls_until_refused(post, token=token) >= 20


def test_a_change_of_the_rate_counts_at_once(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    slow = make_context("slow", calls_per_second=1, calls_at_once=2)
    grant(slow, ann)
    token = token_of(ann)
    assert calls_until_refused(post, token=token, context="slow") == 2

    slow.calls_per_second, slow.calls_at_once = 1000, 1000
    slow.save()

    assert post("checkpoint_list", token=token, context="slow").status_code == 200


def test_more_contexts_do_not_give_a_user_more_calls(caller: Caller) -> None:
    def call_in_many_contexts() -> None:
        for number in range(2000):  # a slow machine gives some back
            fast = Entry(name=f"fast-{number}", rate=Rate(1000, burst=1000))
            somebody = dataclasses.replace(caller, entry=fast, connection=fast.name)
            limits.throttle(operations.get("checkpoint_list"), somebody)

    with pytest.raises(RateLimited, match="rate limit exceeded for tool: checkpoint_list"):
        call_in_many_contexts()


def test_refusals_are_limited_by_address_and_who_is_let_in_is_not(
    ann: User, token_of: MakeToken, post: Post
) -> None:
    good, lapsed = token_of(ann), token_of(ann)
    tokens.revoke(Token.objects.order_by("-pk")[0])

    answers = [post("checkpoint_list", token=lapsed) for _ in range(limits.REFUSAL_RATE.burst + 5)]

    statuses = [answer.status_code for answer in answers]
    assert (statuses[0], statuses[-1]) == (401, 429)
    assert int(answers[-1]["Retry-After"]) >= 1
    noted = AuditEntry.objects.filter(user=ann)  # of no call over MCP that a test before made
    assert noted.count() == statuses.count(401) < len(statuses)
    assert post("checkpoint_list", token=good).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_refusals_over_mcp_are_limited_too(http: httpx2.Client) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    call = modern("tools/list")
    for _ in range(100):
        answer = http.post("/mcp", json=call["json"], headers={**call["headers"], **wrong})
        if answer.status_code != 401:
            break

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["error"]["message"] == "too many of your requests were refused"
    assert http.post("/mcp", **call).status_code == 200
