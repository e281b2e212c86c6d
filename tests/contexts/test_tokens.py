"""Bearer tokens: `manage.py token`, the admin, and what they open."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from contextd.callers import CredentialLapsed, Principal
from contexts import tokens
from contexts.models import Token
from tests.contexts.conftest import MakeContext

pytestmark = pytest.mark.django_db

CREATE = ["create", "--user", "ann", "--name", "laptop"]


def run(*words: str) -> str:
    out = StringIO()
    call_command("token", *words, stdout=out)
    return out.getvalue().strip()


def refusal_of(secret: str) -> str:
    with pytest.raises(CredentialLapsed) as refused:
        tokens.principal_of(secret)
    return refused.value.message


def test_a_created_token_is_printed_once_and_stored_as_a_digest(ann: User) -> None:
    secret = run("create", "--user", "ann", "--name", "laptop")

    token = Token.objects.get()
    assert secret.startswith("ctx_")
    assert secret not in str(vars(token))
    assert secret not in run("list")


def test_it_stands_for_its_user(ann: User) -> None:
    secret = run("create", "--user", "ann", "--name", "laptop")

    principal = tokens.principal_of(secret)
    assert principal is not None
    assert (principal.name, principal.user_id) == (f"user:{ann.pk}", ann.pk)


def test_the_use_of_a_token_is_recorded(ann: User) -> None:
    token, secret = tokens.create(ann, name="laptop")
    tokens.principal_of(secret)

    token.refresh_from_db()
    assert token.last_used_at is not None


def test_the_list_says_when_each_token_was_last_used(ann: User) -> None:
    _, secret = tokens.create(ann, name="laptop")
    assert run("list").endswith("never expires\tunused")

    tokens.principal_of(secret)
    assert f"last used {timezone.now():%Y-%m-%d}" in run("list")


def test_an_unknown_token_is_refused(ann: User) -> None:
    tokens.create(ann, name="laptop")

    assert tokens.principal_of("ctx_wrong") is None


def test_a_revoked_token_stops_working_at_once(ann: User) -> None:
    token, secret = tokens.create(ann, name="laptop")

    run("revoke", str(token.pk))

    assert refusal_of(secret) == "the token 'laptop' was revoked; ask for a new one"
    assert "revoked" in run("list")


def test_an_expired_token_is_refused(ann: User) -> None:
    past = timezone.now() - timedelta(seconds=1)
    _, secret = tokens.create(ann, name="laptop", expires_at=past)

    assert refusal_of(secret) == "the token 'laptop' has expired; ask for a new one"


def test_a_token_of_an_inactive_user_is_unknown(ann: User) -> None:
    _, secret = tokens.create(ann, name="laptop")
    User.objects.filter(pk=ann.pk).update(is_active=False)

    assert "belongs to a user who is not active" in refusal_of(secret)


def test_a_token_is_valid_for_the_given_days(ann: User) -> None:
    run("create", "--user", "ann", "--name", "laptop", "--days", "3")

    left = Token.objects.get().expires_at - timezone.now()  # type: ignore[operator]
    assert timedelta(days=2, hours=23) < left <= timedelta(days=3)


def test_limits_can_be_given(ann: User, make_context: MakeContext) -> None:
    make_context("backend")
    make_context("frontend")
    limits = ["--read-only", "--context", "backend", "--context", "frontend"]

    secret = run(*CREATE, *limits, "--default-context", "frontend")

    assert tokens.principal_of(secret) == Principal(
        name=f"user:{ann.pk}",
        user_id=ann.pk,
        is_read_only=True,
        contexts=frozenset(["backend", "frontend"]),
        default_context="frontend",
    )
    assert "reads in backend, frontend" in run("list")


def test_the_only_context_is_the_default(ann: User, make_context: MakeContext) -> None:
    make_context("backend")

    principal = tokens.principal_of(run(*CREATE, "--context", "backend"))

    assert principal is not None
    assert principal.default_context == "backend"


def test_a_token_without_limits_has_the_permissions_of_its_user(ann: User) -> None:
    secret = run(*CREATE)

    assert tokens.principal_of(secret) == Principal(name=f"user:{ann.pk}", user_id=ann.pk)
    assert "executes in all contexts" in run("list")


def test_a_default_that_it_may_not_select_is_refused(ann: User, make_context: MakeContext) -> None:
    make_context("backend")

    with pytest.raises(CommandError, match="'default' is not among those"):
        run(*CREATE, "--context", "backend", "--default-context", "default")
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*CREATE, "--context", "nope"], "there is no context named 'nope'"),
        ([*CREATE, "--default-context", "nope"], "there is no context named 'nope'"),
        (["create", "--user", "bob", "--name", "x"], "there is no user 'bob'"),
        (["revoke", "77"], "there is no token 77"),
        (["create", "--user", "ann", "--name", "x" * 101], "a name must have 1 to 100 characters"),
        (["create", "--user", "ann", "--name", " "], "a name must have 1 to 100 characters"),
        *(
            (["create", "--user", "ann", "--name", "x", f"--days={days}"], "from 1 to 36500")
            for days in ("0", "-3", "1.5", "soon", "36501", "9" * 5_000)
        ),
    ],
)
def test_impossible_values_are_reported(ann: User, words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        run(*words)


def test_the_list_says_when_tokens_expire_and_that_there_are_none(ann: User) -> None:
    assert "There are no tokens" in run("list")

    run(*CREATE)
    assert "never expires" in run("list")
    Token.objects.update(expires_at=datetime(2027, 2, 26, 22, 45, 37, 139554, tzinfo=UTC))
    assert "expires 2027-02-26 22:45 UTC" in run("list")


def test_the_admin_shows_a_new_token_once(admin_client: Client, ann: User) -> None:
    form = {
        "user": ann.pk,
        "name": "laptop",
        "all_contexts": "on",
        "expires_at_0": "",
        "expires_at_1": "",
    }

    page: Any = admin_client.post("/admin/contexts/token/add/", form, follow=True)

    shown = [str(message) for message in page.context["messages"]]
    secret = next(message for message in shown if "ctx_" in message).rpartition(" ")[2]
    assert tokens.principal_of(secret) is not None
    assert secret not in admin_client.get("/admin/contexts/token/").content.decode()


def test_the_admin_revokes(admin_client: Client, ann: User) -> None:
    token, secret = tokens.create(ann, name="laptop")

    admin_client.post(
        "/admin/contexts/token/", {"action": "revoke_selected", "_selected_action": [token.pk]}
    )

    assert "was revoked" in refusal_of(secret)


def test_the_admin_renames_a_token_without_a_new_secret(admin_client: Client, ann: User) -> None:
    token, secret = tokens.create(ann, name="laptop")

    admin_client.post(
        f"/admin/contexts/token/{token.pk}/change/", {"name": "desktop", "all_contexts": "on"}
    )

    token.refresh_from_db()
    assert token.name == "desktop"
    assert tokens.principal_of(secret) is not None
