"""`manage.py skills validate`: what is no skill, and what is not unpacked. Asks no database."""

import io
import os
import stat
import tracemalloc
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextd.errors import Invalid
from skills import sources
from skills.sources import MAX_UNPACKED_BYTES
from tests.skills.packages import document, skills, write, zipped

LONG = "x" * 1025
WRONG: list[tuple[str, Mapping[str, bytes], str]] = [
    ("one", {"SKILL.md": b"# No front matter"}, "must begin with front matter"),
    ("one", {"SKILL.md": b"---\nname: one\n"}, "must begin with front matter"),
    ("one", {"SKILL.md": b"---\n---\ntext"}, "must be a map"),
    ("one", {"SKILL.md": b"---\nname: [\n---\ntext"}, "line 3: "),
    ("one", {"SKILL.md": b"---\na: &a [x]\nb: *a\n---\nx"}, "has an alias"),
    ("one", {"SKILL.md": b"---\na: !!binary aGk=\n---\nx"}, "something other than text"),
    ("one", {"SKILL.md": b"---\na: " + b"[" * 5000 + b"\n---\nx"}, "more than 50 deep"),
    ("one", {"SKILL.md": b"---\na:\n" + b"- " * 2000 + b"x\n---\nx"}, "more than 50 deep"),
    ("one", {"SKILL.md": b"---\na:\n" + b"- b\n" * 5000 + b"---\nx"}, "more than 5,000 keys"),
    ("one", {"SKILL.md": b"---\na: !!bool abc\n---\nx"}, "something other than text"),
    ("one", {"SKILL.md": b"---\na: !!timestamp abc\n---\nx"}, "something other than text"),
    ("one", {"SKILL.md": b"---\na: !!int ''\n---\nx"}, "something other than text"),
    ("one", {"SKILL.md": b"---\na: !!float 1" + b":0" * 400 + b"\n---\nx"}, "other than text"),
    ("one", {"SKILL.md": b"---\na: 1\nb:\n  c: !!int x\n---\nx"}, "line 4: it contains"),
    ("one", {"SKILL.md": b"---\na: 1\nb: {c, c}\n---\nx"}, "line 3: the key 'c' occurs twice"),
    ("one", {"SKILL.md": b'---\na: "\\0"\n---\nx'}, "NUL"),
    ("one", {"SKILL.md": b"---\nname: one\ndescription: \xff\n---\nx"}, "is not UTF-8"),
    ("one", {"SKILL.md": document("two")}, "'two' must be that of its folder, 'one'"),
    ("one", {"SKILL.md": document("One")}, "'One' must be lower-case letters"),
    ("a--b", {"SKILL.md": document("a--b")}, "single hyphens"),
    ("one", {"SKILL.md": document("one", description=LONG)}, "1025 characters, at most 1024"),
    ("one", {"SKILL.md": document("one", description="")}, "description is required"),
    ("one", {"SKILL.md": document("one", metadata="text")}, "metadata must be a map"),
    ("one", {"SKILL.md": document("one", arguments="[{nme: x}]")}, "{'nme': 'x'} needs a `name`"),
    ("one", {"SKILL.md": document("one") .replace(b"Do it", b"")}, "no instructions"),
    ("one", {"SKILL.md": document("one") + b"x" * 50_001}, "at most 50000 are kept"),
    ("one", {"SKILL.md": document("one"), "big": bytes(16 * 1024 * 1024)}, "larger than 512 files"),
    ("one", {"SKILL.md": document("one"), **{f"{n}": b"" for n in range(512)}}, "512 files"),
    ("one", {"SKILL.md": document("one"), "a": b"", "A": b""}, "'a' occurs twice"),
    ("one", {"SKILL.md": document("one"), "e\u0301": b"", "\xe9": b""}, "'é' occurs twice"),
    ("one", {"SKILL.md": document("one"), "A": b"", "a/b": b""}, "'A' occurs twice"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "files", "message"), WRONG, ids=[m for _, _, m in WRONG])
def test_what_breaks_the_format_is_said(
    tmp_path: Path, name: str, files: Mapping[str, bytes], message: str
) -> None:
    write(tmp_path / name, files)
    write(tmp_path / "good", {"SKILL.md": document("good")})

    out, err = skills("validate", tmp_path)
    assert out == ""
    assert f"{name}: " in err
    assert message in err
    assert err.endswith("1 of 2 skills have problems")


CLIMBING = [
    *("../evil/SKILL.md", "/etc/SKILL.md", "a/../../SKILL.md", "a\\..\\SKILL.md"),
    "C:/SKILL.md",
]
UNCLEAN = ["./SKILL.md", "a//SKILL.md", "a\\SKILL.md"]


REFUSED = [(path, "leads out of the folder") for path in CLIMBING] + [
    (path, "must separate names by single slashes") for path in UNCLEAN
]


@pytest.mark.parametrize(("path", "message"), REFUSED)
def test_paths_that_climb_out_of_an_archive_are_refused(
    tmp_path: Path, path: str, message: str
) -> None:
    (tmp_path / "bad.zip").write_bytes(zipped({path: document("one")}))

    assert message in skills("validate", tmp_path / "bad.zip")[1]


def test_what_climbs_out_of_an_archive_is_refused_alone(tmp_path: Path) -> None:
    paths = ["../evil/SKILL.md", "two/../../x", "one/SKILL.md", "two/SKILL.md"]
    files = {path: document(path.split("/")[-2]) for path in paths}
    (tmp_path / "some.zip").write_bytes(zipped(files))

    err = skills("validate", tmp_path / "some.zip")[1]
    assert "../evil: the path '../evil/SKILL.md' leads out" in err
    assert "two: the path 'two/../../x' leads out" in err
    assert err.endswith("2 of 3 skills have problems")


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_file_of_an_archive_is_refused_alone(tmp_path: Path, packing: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", packing) as archive:
        archive.writestr("bad/SKILL.md", document("bad"))
        archive.writestr("good/SKILL.md", document("good"))
    whole = (tmp_path / "x.zip").read_bytes()
    start = whole.index(b"bad/SKILL.md") + len(b"bad/SKILL.md")
    for damage in (b"\xff" * 30, b"\0" * 30, bytes(range(30))):
        damaged = whole[:start] + damage + whole[start + 30 :]
        (tmp_path / "x.zip").write_bytes(damaged)

        err = skills("validate", tmp_path / "x.zip")[1]
        assert "bad: bad/SKILL.md cannot be unpacked: " in err
        assert err.endswith("1 of 2 skills have problems")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_file_of_another_compression_is_refused_before_it_is_unpacked(
    tmp_path: Path, packing: int
) -> None:
    size = 128 * 1024 * 1024 + 12_345
    with zipfile.ZipFile(tmp_path / "x.zip", "w", packing) as archive:
        archive.writestr("bad/SKILL.md", bytes(size))
        archive.writestr("good/SKILL.md", document("good"), zipfile.ZIP_DEFLATED)
    whole = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(whole.replace(size.to_bytes(4, "little"), b"\x0a\0\0\0"))

    tracemalloc.start()
    err = skills("validate", tmp_path / "x.zip")[1]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "bad: bad/SKILL.md must be stored or compressed with deflate" in err
    assert err.endswith("1 of 2 skills have problems")
    assert peak < 32 * 1024 * 1024


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_no_damage_to_an_archive_is_a_fault_of_ours(data: st.DataObject) -> None:
    whole = bytearray(zipped({"one/SKILL.md": document("one"), "two/SKILL.md": document("two")}))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))

    with suppress(Invalid):
        sources.skills_in(io.BytesIO(bytes(whole)))


def test_a_file_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):
        write(tmp_path / name, {"SKILL.md": document(name), "a": b""})
    read = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path == tmp_path / "bad/a":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)

    err = skills("validate", tmp_path)[1]
    assert "bad: bad/a cannot be read: Permission denied" in err
    assert err.endswith("1 of 2 skills have problems")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path / "one", {"SKILL.md": document("one")})
    os.mkfifo(tmp_path / "one/pipe")

    assert "one: one/pipe is not a file" in skills("validate", tmp_path)[1]


def test_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    write(tmp_path / "in/one", {"SKILL.md": document("one")})
    (tmp_path / "in/one/key").symlink_to(tmp_path / "key")
    link = zipfile.ZipInfo("one/key")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("one/SKILL.md", document("one"))
        archive.writestr(link, "/etc/passwd")

    assert "is a link" in skills("validate", tmp_path / "in")[1]
    assert "is a link" in skills("validate", tmp_path / "in.zip")[1]


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    heavy = tmp_path / "heavy.zip"
    with zipfile.ZipFile(heavy, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one/SKILL.md", document("one"))
        archive.writestr("one/zeros", bytes(17 * 1024 * 1024))
    (tmp_path / "many.zip").write_bytes(
        heavy.read_bytes().replace(
            (17 * 1024 * 1024).to_bytes(4, "little"), (MAX_UNPACKED_BYTES + 1).to_bytes(4, "little")
        )
    )
    (tmp_path / "lying.zip").write_bytes(
        heavy.read_bytes().replace((17 * 1024 * 1024).to_bytes(4, "little"), b"\x10\0\0\0")
    )

    assert "17,825,792 bytes" in skills("validate", heavy)[1]
    assert "at most 50,000 and 268,435,456 are read" in skills("validate", tmp_path / "many.zip")[1]
    assert "one/zeros cannot be unpacked" in skills("validate", tmp_path / "lying.zip")[1]
    (tmp_path / "text.zip").write_text("no zip")
    assert "neither a readable zip archive" in skills("validate", tmp_path / "text.zip")[1]
    assert "neither a folder nor a file" in skills("validate", tmp_path / "nothing")[1]
    assert "it has no SKILL.md" in skills("validate", write(tmp_path / "empty", {"a": b""}))[1]
