"""Which context a request works in, and who may."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from contextd import auth
from contextd.callers import Entry, Principal
from contextd.errors import NotAllowed
from contextd.operations import Rate
from contextd.status import Unhealthy
from contexts import services
from contexts.models import Context, Permission, Token
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant, make_project

pytestmark = pytest.mark.django_db


def entry_of(name: str | None = None, **principal: Any) -> Entry:
    return services.enter(Principal(**{"name": "somebody", **principal}), name)


def test_default_is_shipped_and_gives_everything_to_everybody(ann: User) -> None:
    assert entry_of(user_id=ann.pk) == Entry(
        name="default",
        permission="execute",
        tools=("*",),
        resources=("*",),
        prompts=("*",),
        projects=None,
        rate=None,
    )


def test_a_named_context_gives_what_it_lists(ann: User, make_context: MakeContext) -> None:
    shop = make_project("/w/shop")
    backend = make_context(
        tools=["checkpoint_*"],
        resources=["checkpoint://*"],
        prompts=[],
        projects=(shop,),
        calls_per_second=3,
        calls_at_once=7,
    )
    grant(backend, ann, "read")

    assert entry_of("backend", user_id=ann.pk) == Entry(
        name="backend",
        permission="read",
        tools=("checkpoint_*",),
        resources=("checkpoint://*",),
        prompts=(),
        projects=frozenset([shop.pk]),
        rate=Rate(3, burst=7),
    )


def test_without_listed_projects_only_shared_knowledge_is_visible(
    ann: User, make_context: MakeContext
) -> None:
    grant(make_context(), ann)

    assert entry_of("backend", user_id=ann.pk).projects == frozenset()


@pytest.mark.parametrize("name", ["nope", "Backend", "x" * 1000, "back end", "a\x00b", "..", "é"])
def test_an_unknown_context_is_not_found(
    ann: User, token_of: MakeToken, post: Post, make_context: MakeContext, name: str
) -> None:
    make_context()

    answer = post("checkpoint_list", token=token_of(ann), context=name)

    assert answer.status_code == 404
    assert answer.json()["category"] == "not_found"
    assert "there is no context named" in answer.json()["message"]
    assert len(answer.json()["details"]["context"]) <= 64


def test_an_inactive_context_is_as_if_it_did_not_exist(
    ann: User, token_of: MakeToken, post: Post, make_context: MakeContext
) -> None:
    grant(make_context(is_active=False), ann)

    assert post("checkpoint_list", token=token_of(ann), context="backend").status_code == 404
    assert post("checkpoint_list", context="backend").status_code == 404


def test_without_a_grant_a_context_is_closed(
    ann: User, token_of: MakeToken, post: Post, make_context: MakeContext
) -> None:
    grant(make_context(), User.objects.create_user("bob"))

    answer = post("checkpoint_list", token=token_of(ann), context="backend")

    assert answer.status_code == 403
    assert answer.json()["message"] == (
        "you may not use the context 'backend'; ask its managers for a grant"
    )


def test_a_group_is_a_role(ann: User, make_context: MakeContext) -> None:
    developers = Group.objects.create(name="developers")
    services.grant(make_context(), Permission.EXECUTE, group="developers")
    ann.groups.add(developers)

    assert entry_of("backend", user_id=ann.pk).permission == "execute"


def test_the_highest_grant_counts(ann: User, make_context: MakeContext) -> None:
    backend = make_context()
    ann.groups.add(Group.objects.create(name="leads"), Group.objects.create(name="readers"))
    services.grant(backend, Permission.READ, group="readers")
    services.grant(backend, Permission.MANAGE, group="leads")
    grant(backend, ann, "execute")

    assert entry_of("backend", user_id=ann.pk).permission == "manage"


def test_superusers_manage_every_context(make_context: MakeContext) -> None:
    make_context()
    root = User.objects.create_superuser("root")

    assert entry_of("backend", user_id=root.pk).permission == "manage"


def test_an_open_context_needs_no_grant(ann: User, make_context: MakeContext) -> None:
    make_context(is_open=True)

    assert entry_of("backend", user_id=ann.pk).permission == "execute"


def test_a_closed_default_needs_one(ann: User, token_of: MakeToken, post: Post) -> None:
    Context.objects.filter(name="default").update(is_open=False)
    token = token_of(ann)

    assert post("checkpoint_list", token=token).status_code == 403
    grant(Context.objects.get(name="default"), ann)
    assert post("checkpoint_list", token=token).status_code == 200


def test_callers_on_this_machine_may_use_every_context(
    post: Post, make_context: MakeContext
) -> None:
    make_context()

    assert post("checkpoint_list", context="backend").status_code == 200
    assert auth.caller_of_cli(user=None, context="backend").entry.permission == "manage"


def test_nobody_is_anonymous_when_that_is_switched_off(
    post: Post, settings: Any, ann: User, token_of: MakeToken
) -> None:
    settings.CONTEXTD_ANONYMOUS = False

    refused = post("checkpoint_list")

    assert refused.status_code == 401
    assert "manage.py token create" in refused.json()["message"]
    assert post("checkpoint_list", token=token_of(ann)).status_code == 200


def test_without_a_header_the_default_of_the_token_counts(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    backend = make_context(tools=[])
    grant(backend, ann)
    token = token_of(ann, default_context=backend)

    assert "'backend'" in post("checkpoint_list", token=token).json()["message"]
    assert "'backend'" in post("checkpoint_list", token=token, context="").json()["message"]
    assert post("checkpoint_list", token=token, context="default").status_code == 200


def test_a_token_is_valid_only_in_its_contexts(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    backend, frontend = make_context(), make_context("frontend")
    grant(backend, ann)
    grant(frontend, ann)
    token = token_of(ann, contexts=[backend])

    assert post("checkpoint_list", token=token, context="backend").status_code == 200
    for other in ("frontend", "default"):
        refused = post("checkpoint_list", token=token, context=other)
        assert refused.status_code == 403
        assert refused.json()["message"] == f"this token may not be used in the context {other!r}"


def test_a_token_does_not_open_what_its_user_may_not_use(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    token = token_of(ann, contexts=[make_context()])

    assert post("checkpoint_list", token=token, context="backend").status_code == 403


def test_when_its_only_context_is_deleted_a_token_opens_nothing(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    backend = make_context()
    grant(backend, ann)
    token = token_of(ann, contexts=[backend])
    backend.delete()

    assert post("checkpoint_list", token=token).status_code == 403
    assert post("checkpoint_list", token=token, context="backend").status_code == 404


def revoke_the_grant(ann: User) -> None:
    services.revoke(Context.objects.get(name="backend"), user="ann")


def switch_the_context_off(ann: User) -> None:
    Context.objects.filter(name="backend").update(is_active=False)


def take_the_tools(ann: User) -> None:
    Context.objects.filter(name="backend").update(tools=[])


def deactivate(ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_active=False)


def revoke_the_token(ann: User) -> None:
    Token.objects.update(revoked_at=timezone.now())


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (revoke_the_grant, 403),
        (switch_the_context_off, 404),
        (take_the_tools, 403),
        (deactivate, 401),
        (revoke_the_token, 401),
    ],
)
def test_a_change_applies_from_the_next_call_on(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post, change: Any, status: int
) -> None:
    grant(make_context(), ann)
    token = token_of(ann)
    assert post("checkpoint_list", token=token, context="backend").status_code == 200

    change(ann)

    assert post("checkpoint_list", token=token, context="backend").status_code == status


def test_a_former_member_of_a_group_loses_its_grants(
    ann: User, make_context: MakeContext, token_of: MakeToken, post: Post
) -> None:
    ann.groups.add(Group.objects.create(name="developers"))
    services.grant(make_context(), Permission.EXECUTE, group="developers")
    token = token_of(ann)
    assert post("checkpoint_list", token=token, context="backend").status_code == 200

    ann.groups.clear()

    assert post("checkpoint_list", token=token, context="backend").status_code == 403


def test_an_inactive_user_is_refused_with_every_credential(
    ann: User, make_context: MakeContext
) -> None:
    make_context(is_open=True)
    deactivate(ann)

    with pytest.raises(NotAllowed):
        entry_of("backend", user_id=ann.pk)


def test_status_reports_a_missing_default_context() -> None:
    services.probe()
    Context.objects.filter(name="default").delete()

    with pytest.raises(Unhealthy, match="'default' is missing"):
        services.probe()


def test_each_call_asks_the_database_twice_and_anonymous_ones_once(
    ann: User,
    make_context: MakeContext,
    token_of: MakeToken,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    grant(make_context(projects=(make_project("/w/shop"),)), ann)
    token = token_of(ann, contexts=list(Context.objects.all()))["Authorization"]
    headers = {"host": "localhost", "authorization": token, "x-mcp-context": "backend"}
    with_token = auth.RequestIdentity.of(headers, "127.0.0.1")
    auth.admit(with_token, door="rest")  # which notes the use of the token, once a minute

    with django_assert_num_queries(2):
        auth.admit(with_token, door="rest")
    with django_assert_num_queries(1):
        auth.admit(auth.RequestIdentity.of({"host": "localhost"}, "127.0.0.1"), door="rest")
