"""The admin of tokens: whose they are, and where they may be used."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from contexts import tokens
from contexts.models import Token
from tests.contexts.conftest import MakeContext

pytestmark = pytest.mark.django_db

LIST = "/admin/contexts/token/"


@pytest.fixture
def staff(ann: User) -> Client:
    """Ann, who may make and change tokens, and is no superuser."""
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    codenames = ["add_token", "change_token", "view_token"]
    ann.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(ann)
    return client


def secret_in(page: Any) -> str:
    (message,) = [str(one) for one in page.context["messages"] if tokens.PREFIX in str(one)]
    return message.rpartition(" ")[2]


def test_a_token_is_created_with_its_limits(
    admin_client: Client, ann: User, make_context: MakeContext
) -> None:
    backend = make_context()
    form = {
        "user": ann.pk,
        "name": "ci",
        "is_read_only": "on",
        "contexts": [backend.pk],
        "default_context": backend.pk,
    }

    page = admin_client.post(f"{LIST}add/", form, follow=True)

    principal = tokens.principal_of(secret_in(page))
    assert principal is not None
    assert principal.is_read_only
    assert (principal.contexts, principal.default_context) == (frozenset(["backend"]), "backend")


def test_a_default_that_the_token_may_not_select_is_refused(
    admin_client: Client, ann: User, make_context: MakeContext
) -> None:
    backend, frontend = make_context(), make_context("frontend")
    form = {
        "user": ann.pk,
        "name": "ci",
        "contexts": [backend.pk],
        "default_context": frontend.pk,
    }

    page = admin_client.post(f"{LIST}add/", form)

    assert "&#x27;frontend&#x27; is not among those" in page.content.decode()
    assert not Token.objects.exists()


def test_staff_create_their_own_tokens(staff: Client, ann: User) -> None:
    page = staff.post(
        f"{LIST}add/", {"user": ann.pk, "name": "me", "all_contexts": "on"}, follow=True
    )

    principal = tokens.principal_of(secret_in(page))
    assert principal is not None
    assert principal.user_id == ann.pk


def test_staff_cannot_create_tokens_for_others(staff: Client, admin_user: User) -> None:
    staff.post(f"{LIST}add/", {"user": admin_user.pk, "name": "root", "all_contexts": "on"})

    assert not Token.objects.exists()


def test_staff_do_not_see_or_revoke_tokens_of_others(staff: Client, admin_user: User) -> None:
    token, secret = tokens.create(admin_user, name="of the admin")

    listed = staff.get(LIST).content.decode()
    staff.post(LIST, {"action": "revoke_selected", "_selected_action": [token.pk]})
    staff.post(f"{LIST}{token.pk}/change/", {"name": "stolen", "all_contexts": "on"})

    assert "of the admin" not in listed
    assert tokens.principal_of(secret) is not None
    assert Token.objects.get().name == "of the admin"
