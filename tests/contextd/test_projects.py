"""One code base is one project, wherever its clones lie."""

import dataclasses
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps

from contextd import projects
from contextd.callers import Caller, Entry
from contextd.errors import Invalid, NotAllowed
from contextd.models import Project, ProjectPath

pytestmark = pytest.mark.django_db


@pytest.fixture
def local(caller: Caller) -> Caller:
    return dataclasses.replace(caller, is_from_this_machine=True)


def clone(folder: Path, remote: str) -> Path:
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)  # noqa: S607
    subprocess.run(["git", "-C", folder, "remote", "add", "origin", remote], check=True)  # noqa: S607
    return folder


def test_a_path_is_the_same_project_every_time(caller: Caller) -> None:
    assert projects.resolve(caller, "/w/shop") == projects.resolve(caller, "/w/shop")


def test_a_sub_folder_belongs_to_its_project(caller: Caller) -> None:
    shop = projects.resolve(caller, "/w/shop")

    assert projects.resolve(caller, "/w/shop/src/api") == shop
    assert projects.find(caller, "/w/shop/src") == shop


def test_a_longer_alias_wins(caller: Caller) -> None:
    projects.resolve(caller, "/w/shop")
    api = Project.objects.create(name="api")
    ProjectPath.objects.create(project=api, path="/w/shop/api")

    assert projects.resolve(caller, "/w/shop/api/src") == api


def test_a_folder_with_a_longer_name_is_another_project(caller: Caller) -> None:
    assert projects.resolve(caller, "/w/shop") != projects.resolve(caller, "/w/shop-old")


def test_windows_paths_are_understood(caller: Caller) -> None:
    shop = projects.resolve(caller, "C:\\w\\shop")

    assert shop.name == "shop"
    assert projects.resolve(caller, "C:\\w\\shop\\src") == shop


def test_two_clones_with_one_remote_are_one_project(caller: Caller) -> None:
    mine = projects.resolve(caller, "/home/a/shop", {"git_remote": "git@github.com:acme/shop.git"})
    theirs = projects.resolve(
        caller, "/Users/b/shop", {"git_remote": "https://github.com/acme/shop"}
    )

    assert mine == theirs
    assert projects.find(caller, "/Users/b/shop/src") == mine


def test_a_remote_that_is_told_later_makes_the_next_clone_the_same_project(caller: Caller) -> None:
    remote = {"git_remote": "https://example.com/acme/shop"}
    mine = projects.resolve(caller, "/home/ann/shop")

    assert projects.resolve(caller, "/home/ann/shop", remote) == mine
    assert projects.resolve(caller, "/home/bob/shop", remote) == mine


def test_a_remote_that_another_project_has_stays_there(caller: Caller) -> None:
    remote = {"git_remote": "https://example.com/acme/shop"}
    mine = projects.resolve(caller, "/home/ann/shop")
    theirs = projects.resolve(caller, "/home/bob/shop", remote)

    assert projects.resolve(caller, "/home/ann/shop", remote) == mine
    assert projects.resolve(caller, "/home/cat/shop", remote) == theirs


def test_the_remote_of_what_lies_in_a_project_is_not_its_own(caller: Caller) -> None:
    mono = projects.resolve(caller, "/w/mono")

    projects.resolve(caller, "/w/mono/lib", {"git_remote": "https://example.com/acme/lib"})

    mono.refresh_from_db()
    assert mono.git_remote is None


def test_who_may_make_no_project_gives_none_a_remote(caller: Caller) -> None:
    shop = projects.resolve(caller, "/w/shop")
    member = dataclasses.replace(caller, entry=Entry(projects=frozenset([shop.pk])))

    projects.resolve(member, "/w/shop", {"git_remote": "https://example.com/acme/secret"})

    shop.refresh_from_db()
    assert shop.git_remote is None


def test_a_project_is_found_by_its_remote_alone(caller: Caller) -> None:
    shop = projects.resolve(
        caller, "/w/shop", {"git_remote": "https://user:pw@example.com/acme/shop"}
    )
    stranger = dataclasses.replace(caller, entry=Entry(projects=frozenset()))

    assert projects.find(caller, None, "git@example.com:acme/shop.git") == shop
    assert projects.find(stranger, None, "git@example.com:acme/shop.git") is None
    assert projects.find(caller, None, "/srv/git/shop.git") is None


def test_the_remote_of_a_readable_clone_is_read(local: Caller, tmp_path: Path) -> None:
    one = clone(tmp_path / "one", "ssh://git@example.com:22/acme/shop.git")
    two = clone(tmp_path / "two", "https://user:pw@example.com/acme/shop")
    (two / "src").mkdir()

    assert projects.resolve(local, str(one)) == projects.resolve(local, str(two / "src"))
    assert Project.objects.get().git_remote == "example.com/acme/shop"


def test_a_linked_work_tree_is_the_project_of_its_repository(local: Caller, tmp_path: Path) -> None:
    main = clone(tmp_path / "main", "https://example.com/acme/shop")
    git = ["git", "-C", str(main), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)

    assert projects.resolve(local, str(main)) == projects.resolve(local, str(tmp_path / "linked"))


def test_folders_of_the_server_are_not_read_for_remote_callers(
    caller: Caller, tmp_path: Path
) -> None:
    folder = clone(tmp_path / "shop", "https://example.com/acme/shop")

    assert projects.resolve(caller, str(folder)).git_remote is None


def test_a_home_folder_does_not_swallow_the_clones_in_it(local: Caller, tmp_path: Path) -> None:
    home = projects.resolve(local, str(tmp_path))
    folder = clone(tmp_path / "shop", "https://example.com/acme/shop")

    assert projects.resolve(local, str(folder)) != home


def test_another_remote_below_an_alias_is_another_project(caller: Caller) -> None:
    remote = "https://example.com/acme/shop"
    mono = projects.resolve(caller, "/w", {"git_remote": "https://example.com/acme/mono"})
    shop = projects.resolve(caller, "/w/shop", {"git_remote": remote})

    assert shop != mono
    assert projects.find(caller, "/w/shop/src", remote) == shop


@pytest.mark.parametrize("folder", ["/w/shop", "/w/shop/api"])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_sent_remote_takes_no_folder_from_a_project(
    caller: Caller, folder: str, is_known: bool
) -> None:
    shop = projects.resolve(caller, "/w/shop", {"git_remote": "https://example.com/acme/shop"})
    remote = {"git_remote": "https://evil.example/x"}
    if is_known:
        projects.resolve(caller, "/x", remote)

    other = projects.resolve(caller, folder, remote)

    assert (other.git_remote, other != shop) == ("evil.example/x", True)
    assert projects.find(caller, folder) == projects.resolve(caller, folder) == shop


@pytest.mark.parametrize("path", ["/", "C:\\"])
def test_the_root_of_a_file_system_is_no_project(caller: Caller, path: str) -> None:
    with pytest.raises(Invalid, match="root of a file system"):
        projects.resolve(caller, path)


@pytest.mark.parametrize("folder", ["/home/ann", "/tmp", "/Users/ann", "C:\\Users\\ann"])  # noqa: S108
def test_what_lies_in_a_folder_of_many_projects_is_not_one_project(
    caller: Caller, folder: str
) -> None:
    separator = "\\" if "\\" in folder else "/"
    home = projects.resolve(caller, folder, {"git_remote": "https://example.com/acme/dotfiles"})

    assert projects.resolve(caller, folder) == home
    assert projects.resolve(caller, f"{folder}{separator}shop") != home
    assert projects.find(caller, f"{folder}{separator}other") is None


def test_the_root_is_no_project_even_with_a_known_remote(caller: Caller) -> None:
    remote = {"git_remote": "https://example.com/acme/shop"}
    projects.resolve(caller, "/w/shop", remote)

    with pytest.raises(Invalid, match="root of a file system"):
        projects.resolve(caller, "/", remote)
    assert projects.find(caller, "/data/other") is None


def test_a_folder_that_holds_another_repository_now_is_another_project(
    local: Caller, caller: Caller, tmp_path: Path
) -> None:
    for where, who in (("/workspace", caller), (str(tmp_path), local)):
        first = projects.resolve(who, where, {"git_remote": f"https://example.com/a{where}"})
        second = projects.resolve(who, where, {"git_remote": f"https://example.com/b{where}"})

        assert first != second


def test_a_folder_follows_its_repository_when_the_remote_changes(
    local: Caller, caller: Caller, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = str(clone(tmp_path / "shop", "https://example.com/old/shop"))
    old = projects.resolve(local, folder)
    git = ["git", "-C", folder, "remote", "set-url", "origin", "https://example.com/new/shop"]
    subprocess.run(git, check=True)

    assert projects.find(local, folder) is None
    assert "of example.com/old/shop;" in str(projects.hint_at_former(local, folder, None))
    with caplog.at_level("WARNING"):
        new = projects.resolve(local, folder, {"git_remote": "https://example.com/upstream/shop"})

    assert (new.git_remote, old.git_remote) == ("example.com/new/shop", "example.com/old/shop")
    assert projects.find(caller, folder) == new
    assert f"the folder {folder} moved from project {old.pk} to {new.pk}" in caplog.text
    assert projects.hint_at_former(local, folder, None) is None


def test_a_home_folder_under_git_is_not_the_project_of_all_it_holds(
    local: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projects, "FOLDERS_OF_HOMES", {tmp_path.as_posix()})
    home = clone(tmp_path / "ann", "https://example.com/ann/dotfiles")

    shop = projects.resolve(local, str(home / "shop"))
    assert projects.resolve(local, str(home / "blog")) != shop
    assert projects.resolve(local, str(home)).git_remote == "example.com/ann/dotfiles"


def test_a_team_mates_clone_is_found_by_the_remote(caller: Caller) -> None:
    remote = "https://example.com/acme/shop"
    shop = projects.resolve(caller, "/home/ann/shop", {"git_remote": remote})

    assert projects.find(caller, "/home/bob/shop") is None
    assert projects.find(caller, "/home/bob/shop", "git@example.com:acme/shop.git") == shop


def test_a_windows_path_is_not_looked_for_on_the_server(local: Caller) -> None:
    assert projects.resolve(local, "C:\\Users\\ann\\shop").name == "shop"


def test_a_caller_cannot_reach_a_project_it_does_not_see(caller: Caller) -> None:
    projects.resolve(caller, "/w/secret")
    stranger = dataclasses.replace(caller, entry=Entry(projects=frozenset()))

    assert projects.find(stranger, "/w/secret") is None
    for path in ("/w/secret", "/w/new"):  # nor learn which of them there is
        with pytest.raises(NotAllowed) as refused:
            projects.resolve(stranger, path)
        assert refused.value.message == (
            f"the context 'default' contains no project for {path}; give the git "
            "remote of the clone (`git_remote` or `context.git_remote`), or ask an admin to add "
            "the project"
        )


def test_a_caller_limited_to_some_projects_claims_no_folder(caller: Caller) -> None:
    secret = projects.resolve(caller, "/w/secret", {"git_remote": "https://example.com/a/secret"})
    remote = {"git_remote": "https://example.com/acme/shop"}
    shop = projects.resolve(caller, "/w/shop", remote)
    stranger = dataclasses.replace(caller, entry=Entry(projects=frozenset([shop.pk])))

    assert projects.resolve(stranger, "/w/secret/lib", remote) == shop
    assert projects.resolve(stranger, "/x/shop", remote) == shop

    assert projects.resolve(caller, "/w/secret/lib") == secret
    assert projects.resolve(caller, "/x/shop/plan") != shop


def test_what_was_stored_before_is_found_in_the_form_that_is_asked_for_now(caller: Caller) -> None:
    migration = import_module("contextd.migrations.0008_projects_as_they_are_asked_for")
    for number, remote in enumerate(["github.com/A/b", "github.com/a/B", "git.example.com/A/b"]):
        project = Project.objects.create(name=remote, git_remote=remote)
        ProjectPath.objects.create(project=project, path=f"c:\\w\\{number}")

    migration.lower_remotes(apps, None)
    migration.raise_drives(apps, None)

    found = [projects.find(caller, f"C:\\w\\{number}") for number in range(3)]
    assert [one and one.git_remote for one in found] == [
        "github.com/a/b",
        None,
        "git.example.com/A/b",
    ]


def test_merging_moves_paths_and_the_remote(caller: Caller) -> None:
    kept = projects.resolve(caller, "/w/shop")
    absorbed = projects.resolve(caller, "/x/shop", {"git_remote": "https://example.com/acme/shop"})

    projects.merge(kept, absorbed)

    assert projects.resolve(caller, "/x/shop") == kept
    assert Project.objects.get().git_remote == "example.com/acme/shop"


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("https://GitHub.com/acme/shop.git/", "github.com/acme/shop"),
        ("https://token@github.com/acme/shop", "github.com/acme/shop"),
        ("ssh://git@example.com:2222/acme/shop.git", "example.com/acme/shop"),
        ("github.com/acme/shop", "github.com/acme/shop"),
        ("http://gitlab/acme/shop.git", "gitlab/acme/shop"),
        ("ssh://git@gitserver/acme/shop.git", "gitserver/acme/shop"),
        ("https://localhost:3000/a/b", "localhost/a/b"),
        ("ssh://git@[::1]:2222/acme/shop", "[::1]/acme/shop"),
        ("https://me@example.com:pw@Git.Example.com/Acme/Shop", "git.example.com/Acme/Shop"),
        ("git@github.com:/a/b.git", "github.com/a/b"),
        ("git@github.com:Acme/Shop.git", "github.com/acme/shop"),
        ("C:\\repos\\shop", None),
        ("C:/repos/shop", None),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("file:///srv/git/shop.git", None),
        ("", None),
    ],
)
def test_remotes_are_compared_without_scheme_user_and_suffix(url: str, remote: str | None) -> None:
    assert projects.normalize_remote(url) == remote
