"""From a credential to a Caller."""

import os
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.test import RequestFactory

from contextd import auth, logins
from contextd.callers import Entry, Principal
from contextd.errors import NotAuthenticated
from contexts import tokens

LOCAL: dict[str, Any] = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost:8080"}


def request(**meta: Any) -> HttpRequest:
    return RequestFactory().post("/api/v1/status", **{**LOCAL, **meta})


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ann")


@pytest.fixture
def secret(user: User) -> str:
    return tokens.create(user, name="laptop")[1]


@pytest.mark.django_db
@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080"])
def test_callers_on_this_machine_need_no_token(peer: str, host: str) -> None:
    caller = auth.caller_of_django(request(REMOTE_ADDR=peer, HTTP_HOST=host), "rest")

    assert (caller.principal, caller.user_id) == ("anonymous", None)
    assert caller.is_local
    assert caller.sees_all_projects


@pytest.mark.parametrize(
    "meta",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": "::ffff:192.0.2.7"},
        {"REMOTE_ADDR": ""},
        {"HTTP_HOST": "contextd.example.com"},
        {"HTTP_HOST": "localhost.evil.com"},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_X_FORWARDED_HOST": "localhost"},
        {"HTTP_X_FORWARDED_PROTO": "https"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
    ],
)
def test_callers_from_other_machines_need_a_token(meta: dict[str, str]) -> None:
    with pytest.raises(NotAuthenticated, match=r"manage\.py token create"):
        auth.caller_of_django(request(**meta), "rest")


def test_a_token_names_its_user(user: User, secret: str) -> None:
    caller = auth.caller_of_django(
        request(REMOTE_ADDR="192.0.2.7", HTTP_AUTHORIZATION=f"bearer {secret}"), "rest"
    )

    assert (caller.principal, caller.user_id) == (f"user:{user.pk}", user.pk)
    assert not caller.is_local
    assert not caller.is_from_this_machine


@pytest.mark.parametrize(
    ("meta", "is_from_this_machine"),
    [
        ({}, True),
        ({"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, False),
        ({"HTTP_HOST": "contextd.example.com"}, False),
        ({"REMOTE_ADDR": "192.0.2.7"}, False),
    ],
)
def test_a_token_does_not_hide_where_a_request_is_sent_from(
    secret: str, meta: dict[str, str], is_from_this_machine: bool
) -> None:
    identity = request(HTTP_AUTHORIZATION=f"Bearer {secret}", **meta)

    assert auth.caller_of_django(identity, "rest").is_from_this_machine is is_from_this_machine


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header", ["Bearer wrong", "Bearer", "Bearer ", "", "Basic YTpi", "wrong", "Bearer a\x00b"]
)
def test_a_bad_credential_is_never_anonymous(header: str) -> None:
    with pytest.raises(NotAuthenticated):
        auth.caller_of_django(request(HTTP_AUTHORIZATION=header), "rest")


def test_rates_count_by_session_or_else_by_principal_client_and_context() -> None:
    admission = auth.Admission(Principal(name="user:3", user_id=3), Entry(name="backend"))

    with_session = auth.caller_of_mcp(admission, client="c/1", session_id="abc")
    without = auth.caller_of_mcp(admission, client="c" * 200, session_id=None)

    assert with_session.connection == "abc"
    assert without.connection == f"user:3/{'c' * 100}/backend"
    assert without.client == "c" * 100


def test_the_admin_acts_as_the_logged_in_user(user: User) -> None:
    page = request()
    page.user = user

    caller = logins.curator_of(page)

    assert (caller.principal, caller.user_id, caller.door) == (f"user:{user.pk}", user.pk, "admin")
    assert caller.sees_all_projects


@pytest.mark.parametrize("is_staff", [True, False])
def test_on_the_pages_a_curator_is_one_whom_the_admin_lets_in(user: User, is_staff: bool) -> None:
    page = request()
    user.is_staff = is_staff
    page.user = user

    caller = logins.caller_of(page)

    assert (caller.door, caller.is_curator) == ("rest", is_staff)


def test_the_admin_refuses_anonymous_users() -> None:
    page = request()
    page.user = AnonymousUser()

    with pytest.raises(NotAuthenticated):
        logins.curator_of(page)


def test_a_page_of_the_admin_shows_where_it_is_used(user: User) -> None:
    here, elsewhere = request(), request(REMOTE_ADDR="192.0.2.7")
    here.user = elsewhere.user = user

    assert logins.curator_of(here).is_from_this_machine
    assert not logins.curator_of(elsewhere).is_from_this_machine


def test_the_command_line_is_on_this_machine_for_every_user(user: User) -> None:
    caller = auth.caller_of_cli(user=user.username, context=None)

    assert not caller.is_local
    assert caller.is_from_this_machine


@pytest.mark.django_db
def test_the_command_line_acts_as_the_owner_of_the_process() -> None:
    caller = auth.caller_of_cli(user=None, context=None)

    assert (caller.principal, caller.door) == (f"local:{os.getuid()}", "cli")
    assert caller.is_local
