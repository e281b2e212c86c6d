"""Which files of a folder are indexed, and how the others are reported."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextd.errors import Invalid
from repositories import indexing, listing
from repositories.reading import Reader, Skipped
from repositories.rules import Reason
from tests.conftest import Call
from tests.repositories.conftest import Folder, Index, indexed

CODE = "x = 1\n"
MAX_FILE_BYTES = 30_000


def test_a_work_tree_is_indexed_without_what_git_ignores(clone: Folder, index: Index) -> None:
    clone.write({"tracked.py": CODE, "deleted.py": CODE, "forced.log": CODE})
    clone.git("add", ".")
    (clone.path / "deleted.py").unlink()
    clone.write(
        {
            "untracked.py": CODE,
            "note.log": CODE,
            "deep/keep.log": CODE,
            "deep/drop.log": CODE,
            ".gitignore": "*.log\n",
            "deep/.gitignore": "!keep.log\n",
        }
    )

    report = index(clone)

    expected = {"tracked.py", "forced.log", "untracked.py", "deep/keep.log"}
    assert indexed() == {*expected, ".gitignore", "deep/.gitignore"}
    assert (report.skipped, report.failed) == ({}, 0)


def test_a_folder_within_a_work_tree_follows_the_rules_around_it(
    clone: Folder, index: Index
) -> None:
    clone.write({".gitignore": "*.log\n", "api/a.py": CODE, "api/a.log": CODE, "web/b.py": CODE})

    index(Folder(clone.path / "api"))

    assert indexed() == {"a.py"}


def test_a_folder_that_git_ignores_is_walked_if_it_is_requested(
    clone: Folder, index: Index
) -> None:
    clone.write({".gitignore": "out/\n", "out/a.py": CODE})

    index(Folder(clone.path / "out"))

    assert indexed() == {"a.py"}


def test_submodules_are_indexed_and_other_clones_inside_are_not(
    clone: Folder, index: Index, tmp_path: Path
) -> None:
    library = Folder(tmp_path / "library")
    library.write({"lib.py": CODE})
    library.git("init", "-q")
    library.git("add", ".")
    library.git("commit", "-qm", "one")
    clone.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.path))
    other = Folder(clone.path / "other")
    other.write({"other.py": CODE})
    other.git("init", "-q")

    report = index(clone)

    assert report.skipped == {Reason.CLONE: 1}
    assert indexed() == {".gitmodules", "library/lib.py"}


def test_a_folder_without_git_counts_what_it_leaves_out(folder: Folder, index: Index) -> None:
    folder.write({"a.py": CODE, "clone/b.py": CODE, "node_modules/c.js": CODE, "x/venv/d.py": CODE})
    Folder(folder.path / "clone").git("init", "-q")

    report = index(folder)

    assert report.skipped == {Reason.CLONE: 1, Reason.VENDORED: 2}
    assert indexed() == {"a.py"}


def test_what_changed_last_is_embedded_first(folder: Folder) -> None:
    for number, name in enumerate(["new.py", "old.py", "newest.py"]):
        folder.write({name: CODE})
        changed_at = 1_000_000 + [5, 1, 9][number]
        os.utime(folder.path / name, (changed_at, changed_at))

    # The newest passages are embedded first, so the last change is stored last.
    order = indexing.oldest_first(folder.path, ["new.py", "old.py", "newest.py", "gone.py"])
    assert order == ["gone.py", "old.py", "new.py", "newest.py"]


def test_a_submodule_behind_a_link_is_not_listed(clone: Folder, tmp_path: Path) -> None:
    library = Folder(tmp_path / "library")
    library.write({"lib.py": CODE})
    library.git("init", "-q")
    library.git("add", ".")
    library.git("commit", "-qm", "one")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.path))
    clone.git(*add, "deps/library")
    (clone.path / "deps").rename(tmp_path / "elsewhere")
    (clone.path / "deps").symlink_to(tmp_path / "elsewhere")

    assert set(listing.files_in(clone.path).paths) == {".gitmodules", "deps"}


def test_without_git_the_nearest_ignore_file_takes_precedence(folder: Folder, index: Index) -> None:
    folder.write(
        {
            ".gitignore": "*.log\n/build\n!important.log\nhidden/\n",
            "a.log": CODE,
            "important.log": CODE,
            "build/a.py": CODE,
            "src/build/b.py": CODE,
            "src/.gitignore": "!b.log\nimportant.log\n",
            "src/b.log": CODE,
            "src/important.log": CODE,
            "hidden/.gitignore": "!c.py\n",
            "hidden/c.py": CODE,
        }
    )

    index(folder)

    assert {p for p in indexed() if not p.endswith(".gitignore")} == {
        "important.log",
        "src/build/b.py",
        "src/b.log",
    }


@pytest.mark.parametrize("kind", ["folder", "clone"])
def test_an_own_ignore_file_takes_precedence(
    kind: str, index: Index, request: pytest.FixtureRequest
) -> None:
    folder: Folder = request.getfixturevalue(kind)
    folder.write(
        {
            ".contextdignore": "drafts/\n*.txt\n!vendor/\n!yarn.lock\n",
            "drafts/a.md": CODE,
            "a.txt": CODE,
            "vendor/lib.py": CODE,
            "yarn.lock": CODE,
            "poetry.lock": CODE,
            "docs/.contextdignore": "!b.txt\n",
            "docs/b.txt": CODE,
        }
    )

    report = index(folder)

    kept = {p for p in indexed() if not p.endswith(".contextdignore")}
    assert kept == {"vendor/lib.py", "yarn.lock", "docs/b.txt"}
    assert report.skipped[Reason.LOCK] == 1


def test_re_including_a_folder_does_not_include_its_secrets(clone: Folder, index: Index) -> None:
    clone.write(
        {
            ".contextdignore": "/*\n!/src/\n",
            "a.py": CODE,
            "src/b.py": CODE,
            "src/.env": "A=b",
            "src/tls/server.key": "x",
        }
    )

    report = index(clone)

    assert indexed() == {"src/b.py"}
    assert report.skipped[Reason.SECRET] == 2


SECRET_NAMES = [
    *("credentials.txt", "credentials.toml", "credentials.bak", "aws_credentials.txt"),
    *("credentials.yml.enc", "passwords.txt", "secrets.txt", "secrets.ini", "api_key.txt"),
    *("prod.env.local", "server.key.old", "server.key~", "server.pem.bak.2", "http.keytab"),
    *(".pgpass.bak", "serviceAccountKey.json", "github_token.txt"),
]
UNWANTED: dict[str, tuple[str | bytes, Reason]] = {
    ".env": ("A=b", Reason.SECRET),
    ".env.production": ("A=b", Reason.SECRET),
    ".envs/prod.txt": ("A=1", Reason.SECRET),
    "src/marked.ts": ("/**\n * @generated by protoc\n */\n", Reason.GENERATED),
    "src/told.rs": ("// This file is automatically @generated by x.\n", Reason.GENERATED),
    "config/.ENV.local": ("A=b", Reason.SECRET),
    "deploy/id_rsa": ("x", Reason.SECRET),
    "tls/server.key": ("x", Reason.SECRET),
    "deploy/credentials": ("x", Reason.SECRET),
    "deploy/prod.env": ("A=b", Reason.SECRET),
    "deploy/aws_credentials": ("x", Reason.SECRET),
    "deploy/.credentials.json": ("{}", Reason.SECRET),
    "deploy/application-secrets.yml": ("a: b", Reason.SECRET),
    "deploy/ssh_host_rsa_key": ("x", Reason.SECRET),
    "deploy/gcp-key.json": ("{}", Reason.SECRET),
    "terraform.tfvars.json": ("{}", Reason.SECRET),
    **{f"copies/{name}": ("x", Reason.SECRET) for name in SECRET_NAMES},
    "notes.txt": ("-----BEGIN RSA PRIVATE KEY-----\nx\n", Reason.SECRET),
    "package-lock.json": ("{}", Reason.LOCK),
    "go.sum": ("x", Reason.LOCK),
    "web/node_modules/a/index.js": ("x", Reason.VENDORED),
    "third_party/a.c": ("x", Reason.VENDORED),
    "api_pb2.py": ("x", Reason.GENERATED),
    "Api.java": ('package a;\n@Generated("by protoc")\nclass Api {\n}\n', Reason.GENERATED),
    "client.go": ("// Code generated by tool. DO NOT EDIT.\npackage a\n", Reason.GENERATED),
    "app.min.js": ("x", Reason.MINIFIED),
    "app.js": ("var a=1;" * 1000, Reason.MINIFIED),
    "logo.png": ("x", Reason.BINARY),
    "data": (b"a\0b", Reason.BINARY),
    "data2": (bytes(range(1, 256)) * 9, Reason.BINARY),
    "__init__.py": ("\n", Reason.EMPTY),
    "large.py": ("x" * (MAX_FILE_BYTES + 1), Reason.TOO_LARGE),
}
WANTED: dict[str, str | bytes] = {
    ".env.example": "A=",
    "credentials/store.py": CODE,
    "passwords.py": CODE,
    "secrets.md": CODE,
    "special_tokens.txt": CODE,
    "notes.old": CODE,
    "aws_credentials/store.py": CODE,
    "example.env": "A=",
    "latin.py": "# caf\xe9\n".encode("latin-1"),
    "wide.txt": "wide words".encode("utf-16"),
    "with space/ä.py": CODE,
    "Acme.Db/Context.cs": CODE,
    "Acme.Key/Kind.cs": CODE,
    "Acme.Lock/Locks.cs": CODE,
    "shop.map/a.js": CODE,
    "projects.env/shop/app.py": CODE,
    ".env.local.example": "A=",
    "src/.env.d.ts": CODE,
    "src/resolver.ts": "import { User } from '@generated/type-graphql';\n// see @generated\n",
    "Main.java": "class Main {\n\n    @Generated\n    static void main() {\n    }\n}\n",
    "Main.kt": "@Generated\nfun main() {\n}\n",
    "long_line.md": "word " * 5000,
}


def test_unwanted_files_stay_out_and_similar_ones_are_indexed(clone: Folder, index: Index) -> None:
    clone.write({path: content for path, (content, _) in UNWANTED.items()})
    clone.write(WANTED)

    report = index(clone, max_file_size=MAX_FILE_BYTES)

    assert indexed() == set(WANTED)
    assert report.skipped == Counter(reason for _, reason in UNWANTED.values())


@pytest.mark.parametrize("kind", ["folder", "clone"])
def test_links_are_not_followed_and_cycles_end(
    kind: str, index: Index, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder: Folder = request.getfixturevalue(kind)
    outside = Folder(tmp_path / "outside")
    outside.write({"secret.py": "zeppelin = 1\n"})
    folder.write({"real.py": CODE})
    (folder.path / "file.py").symlink_to(outside.path / "secret.py")
    (folder.path / "away").symlink_to(outside.path)
    (folder.path / "round").symlink_to(folder.path)
    (folder.path / "dead.py").symlink_to("nowhere")

    report = index(folder)

    assert indexed() == {"real.py"}
    assert report.skipped == {Reason.LINK: 4}


def test_a_tracked_folder_that_became_a_link_leads_nowhere(
    clone: Folder, index: Index, tmp_path: Path
) -> None:
    outside = Folder(tmp_path / "outside")
    outside.write({"a.py": "zeppelin = 1\n"})
    clone.write({"inside/a.py": CODE})
    clone.git("add", ".")
    (clone.path / "inside/a.py").unlink()
    (clone.path / "inside").rmdir()
    (clone.path / "inside").symlink_to(outside.path)

    index(clone)

    assert indexed() == set()


def test_a_folder_that_a_link_replaces_during_a_run_leads_nowhere(
    folder: Folder, tmp_path: Path
) -> None:
    outside = Folder(tmp_path / "outside")
    outside.write({"b.py": "zeppelin = 1\n"})
    folder.write({"inner/a.py": CODE, "inner/b.py": CODE})
    reader = Reader(folder.path, MAX_FILE_BYTES)
    reader.read("inner/a.py")
    (folder.path / "inner").rename(tmp_path / "moved")
    (folder.path / "inner").symlink_to(outside.path)

    with pytest.raises(Skipped) as skipped:
        reader.read("inner/b.py")

    assert skipped.value.reason == Reason.LINK


def test_a_pipe_does_not_block_the_run(folder: Folder, index: Index) -> None:
    os.mkfifo(folder.path / "pipe")

    assert index(folder).skipped == {Reason.SPECIAL: 1}


PATTERNS: list[tuple[dict[str, Any], set[str]]] = [
    ({"include_patterns": ["*.py"]}, {"a.py", "src/b.py", "src/deep/c.py"}),
    ({"include_patterns": ["src/**/*.py"]}, {"src/b.py", "src/deep/c.py"}),
    ({"include_patterns": ["/*.py"]}, {"a.py"}),
    ({"include_patterns": ["src/"]}, {"src/b.py", "src/deep/c.py", "src/d.md"}),
    ({"exclude_patterns": ["**/deep/**", "*.md"]}, {"a.py", "src/b.py"}),
    ({"include_patterns": ["*.py"], "exclude_patterns": ["src"]}, {"a.py"}),
]


def test_patterns_are_those_of_git_and_each_run_has_its_own(folder: Folder, index: Index) -> None:
    folder.write(dict.fromkeys(("a.py", "src/b.py", "src/deep/c.py", "src/d.md"), CODE))

    for patterns, kept in PATTERNS:
        report = index(folder, **patterns)
        assert indexed() == kept
        assert sum(report.skipped.values()) == 4 - len(kept)


def test_an_invalid_pattern_is_refused(folder: Folder, call: Call) -> None:
    with pytest.raises(Invalid, match="exclude_patterns has an invalid pattern"):
        call("index_repository", path=str(folder.path), exclude_patterns=["a", "!"])


def test_one_file_that_cannot_be_read_does_not_stop_the_others(
    clone: Folder, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.write({"a.py": CODE, "locked.py": CODE, "z.py": CODE})
    (clone.path / os.fsdecode(b"\xff.py")).write_text(CODE)
    refuse(monkeypatch, "locked.py")

    report = index(clone)

    assert indexed() == {"a.py", "z.py"}
    assert report.failed == 2
    assert {(one.path, one.error) for one in report.errors} == {
        ("locked.py", "Permission denied"),
        ("\ufffd.py", "its name is not UTF-8"),
    }


@pytest.mark.parametrize("locked", ["inner", "b.py"])
def test_unreadable_files_keep_their_previous_index(
    locked: str, folder: Folder, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write({"a.py": CODE, "inner/b.py": CODE, "inner/deep/c.py": CODE, "inner2/d.py": CODE})
    index(folder)
    (folder.path / "a.py").unlink()
    refuse(monkeypatch, locked)

    report = index(folder)

    assert (report.failed, report.removed) == (1, 1)
    assert indexed() == {"inner/b.py", "inner/deep/c.py", "inner2/d.py"}


def refuse(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Permissions do not bind the superuser, who may be the one that runs this."""

    def guard(function: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(path: Any, *args: Any, **options: Any) -> Any:
            if os.fspath(path).endswith(name):
                raise PermissionError(13, "Permission denied", path)
            return function(path, *args, **options)

        return guarded

    monkeypatch.setattr(os, "open", guard(os.open))
    monkeypatch.setattr(os, "scandir", guard(os.scandir))
