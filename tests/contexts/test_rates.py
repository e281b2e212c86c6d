"""How often may be called: a context's own rate, and one of each user's over all connections."""

import dataclasses
from typing import Any

import pytest
from django.contrib.auth.models import User

from contextd import limits, operations
from contextd.callers import Caller, Entry
from contextd.errors import RateLimited
from contextd.rates import Rate
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant

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
