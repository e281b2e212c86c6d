"""`manage.py contexts`."""

import json
import os
from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from contextd import auth
from contextd.errors import NotAllowed
from contextd.models import Project, ProjectPath
from contexts import services
from contexts.models import Context, Grant

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = StringIO()
    call_command("contexts", *words, stdout=out)
    return out.getvalue().strip()


def refusal_of(*words: str) -> str:
    with pytest.raises(CommandError) as refused:
        run(*words)
    return str(refused.value)


def test_the_context_default_exists_from_the_start() -> None:
    (default,) = json.loads(run("list", "--json"))

    assert default["name"] == "default"
    assert default["open"] is default["active"] is True
    assert default["projects"] == "all"
    assert default["tools"] == default["resources"] == default["prompts"] == ["*"]


def test_a_context_is_created_with_its_contents(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--description", "Of the shop team", "--tools", "checkpoint_*", "status"]
    run("create", "shop", *words, "--prompts", "resume", "--projects", "/w/shop", "/w/api")

    made = Context.objects.get(name="shop")
    assert made.tools == ["checkpoint_*", "status"]
    assert (made.resources, made.prompts) == ([], ["resume"])
    assert {project.name for project in made.projects.all()} == {"shop", "api"}
    assert (made.is_active, made.is_open, made.all_projects) == (True, False, False)
    assert "shop: only superusers may use it" in capsys.readouterr().err


def test_a_context_may_ask_for_review() -> None:
    run("create", "careful", "--needs-review")

    asked = {
        context["name"]: context["needs_review"] for context in json.loads(run("list", "--json"))
    }
    assert asked == {"default": False, "careful": True}


@pytest.mark.parametrize("path", ["/w/shop/", "./shop", "shop", "/w/./shop/src/.."])
def test_paths_become_those_that_clients_send(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getcwd", lambda: "/w")
        run("create", "shop", "--projects", path)

    assert ProjectPath.objects.get().path == "/w/shop"


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("", "argument --projects: a folder must be an absolute path"),
        ("C:shop", "argument --projects: a folder must be an absolute path"),
        ("/", "/ is the root of a file system"),
    ],
)
def test_an_invalid_project_path_is_refused(path: str, refusal: str) -> None:
    assert refusal in refusal_of("create", "shop", "--projects", path)
    assert not Context.objects.filter(name="shop").exists()


def test_known_projects_are_used_unchanged() -> None:
    run("create", "shop", "--projects", "/w/shop")
    run("create", "other", "--projects", "/w/shop/src")

    assert Project.objects.count() == 1


@pytest.mark.parametrize("name", ["Shop", "a b", "", "x" * 65, "../etc", "default", "shop\n"])
def test_a_name_must_be_simple_and_free(name: str) -> None:
    assert refusal_of("create", name)
    assert [context.name for context in Context.objects.all()] == ["default"]


def test_projects_are_given_by_git_remote_wherever_they_are_cloned() -> None:
    known = Project.objects.create(name="known", git_remote="github.com/acme/api")
    run(
        *("create", "shop", "--projects", "/w/docs"),
        *("--remotes", "git@github.com:Acme/Shop.git", "https://github.com/acme/api"),
    )

    made = Context.objects.get(name="shop").projects
    assert set(made.values_list("name", "git_remote")) == {
        ("docs", None),
        ("shop", "github.com/acme/shop"),
        ("known", "github.com/acme/api"),
    }
    assert known in made.all()


def test_what_is_no_git_remote_is_refused() -> None:
    assert refusal_of("create", "shop", "--remotes", "shop").startswith("this is not a git remote")
    assert not Context.objects.filter(name="shop").exists()


def test_a_closed_context_needs_a_grant_until_it_is_opened_again(
    ann: User, capsys: pytest.CaptureFixture[str]
) -> None:
    principal = auth.user_named(ann.username)

    assert run("close", "default") == "default is closed: granted to 0"
    assert "default: only superusers may use it" in capsys.readouterr().err
    with pytest.raises(NotAllowed):
        services.enter(principal, "default")

    assert run("open", "default") == "default is open to every user"
    assert services.enter(principal, "default").permission == "execute"


def test_a_user_or_a_group_is_granted_and_no_more(ann: User) -> None:
    Group.objects.create(name="developers")
    run("create", "shop")

    assert run("grant", "shop", "--user", "ann") == "ann may execute in shop"
    assert run("grant", "shop", "--user", "ann", "--permission", "read") == "ann may read in shop"
    assert run("grant", "shop", "--group", "developers") == "group developers may execute in shop"
    assert Grant.objects.count() == 2

    run("revoke", "shop", "--user", "ann")
    run("revoke", "shop", "--group", "developers")
    assert not Grant.objects.exists()


def test_an_unknown_name_is_reported(ann: User) -> None:
    run("create", "shop")

    for words, reason in [
        (["grant", "nope", "--user", "ann"], "there is no context named 'nope'"),
        (
            ["grant", "shop", "--user", "bob"],
            "there is no user named 'bob'; create it in the admin, under Users",
        ),
        (
            ["grant", "shop", "--group", "devs"],
            "there is no group named 'devs'; create it in the admin, under Groups",
        ),
        (["revoke", "shop", "--user", "ann"], "ann has no grant in shop"),
        (["validate", "nope"], "there is no context named 'nope'"),
    ]:
        assert refusal_of(*words) == reason


def test_the_list_says_who_may_use_what(ann: User) -> None:
    run("create", "shop", "--description", "Of the shop team", "--projects", "/w/shop")
    run("grant", "shop", "--user", "ann")

    listed = run("list").splitlines()
    (_, shop) = json.loads(run("list", "--json"))

    assert listed[1] == "shop\tgranted to 1\tOf the shop team"
    assert shop["projects"] == ["shop"]
    assert shop["grants"] == ["ann may execute in shop"]


def test_probable_mistakes_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    run(
        "create",
        "shop",
        "--tools",
        "checkpiont_*",
        "checkpoints:*",
        "status",
        "--resources",
        "checkpoint://7*",
        "checkpoint://*",
        "checkpoint://recent?tag=*",
        "checkpoint:*",
        "chekpoint://*",
        "--prompts",
        "res*",
        "resumee",
    )
    run("create", "empty", "--open", "--all-projects")

    assert refusal_of("validate") == "these are likely mistakes"

    reported = capsys.readouterr().err.splitlines()[-6:]
    assert reported == [
        "empty: it contains no tool, no resource and no prompt",
        "shop: 'checkpiont_*' matches no tool",
        "shop: 'chekpoint://*' matches no resource",
        "shop: 'resumee' matches no prompt",
        "shop: only superusers may use it: it is not open and there is no grant",
        "shop: it contains no project, so only shared knowledge is visible in it",
    ]
    assert run("validate", "default") == "no mistakes found"
