"""Rate limits: of a context, of each user over all connections, and of recorded refusals."""

import dataclasses
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

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


def test_a_change_of_the_rate_applies_at_once(
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


def test_repeated_refusals_are_answered_alike_but_do_not_fill_the_audit(
    ann: User, token_of: MakeToken, post: Post
) -> None:
    lapsed = token_of(ann)
    tokens.revoke(Token.objects.get())
    burst = limits.RECORDED_REFUSAL_RATE.burst

    answers = [post("checkpoint_list", token=lapsed) for _ in range(burst + 20)]

    assert {answer.status_code for answer in answers} == {401}
    assert burst <= AuditEntry.objects.filter(user=ann).count() < len(answers)


def test_refusals_of_one_user_do_not_hide_those_of_another(
    ann: User, token_of: MakeToken, post: Post
) -> None:
    lapsed, bobs = token_of(ann), token_of(bob := User.objects.create_user("bob"))
    Token.objects.update(revoked_at=timezone.now())
    for _ in range(limits.RECORDED_REFUSAL_RATE.burst + 5):
        post("checkpoint_list", token=lapsed)

    post("checkpoint_list", token=bobs)

    assert AuditEntry.objects.filter(user=bob).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_a_client_without_a_valid_token_can_always_learn_where_to_get_one(
    http: httpx2.Client, headers: dict[str, str]
) -> None:
    call = modern("tools/list")
    proxied = {**call["headers"], **headers, "X-Forwarded-For": "203.0.113.7"}

    answers = [http.post("/mcp", json=call["json"], headers=proxied) for _ in range(50)]

    assert {answer.status_code for answer in answers} == {401}
    assert all(answer.headers["www-authenticate"] for answer in answers)
