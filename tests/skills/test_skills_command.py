"""`manage.py skills`: from and to the files of the Agent Skills format."""

import io
import stat
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from skills.models import Skill, SkillFile, State
from skills.sources import MOST_UNPACKED
from tests.conftest import Call
from tests.node import FOLDER, needs_node
from tests.skills.conftest import Create
from tests.skills.packages import EXECUTABLE, FORMS, PDF, content_of, document, write, zipped

pytestmark = pytest.mark.django_db(transaction=True)


def skills(*arguments: Any) -> tuple[str, str]:
    """What the command writes, and what it warns of; with its failure at the end of the latter."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("skills", *map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        err.write(str(error))
    return out.getvalue(), err.getvalue()


def test_a_round_trip_changes_nothing(tmp_path: Path, warm_model: None) -> None:
    source = write(tmp_path / "in/pdf-forms", FORMS).parent

    assert skills("import", source) == ("new: pdf-forms 1.4.0\n", "")
    assert skills("export", tmp_path / "out")[0].startswith("1 skills written")
    assert content_of(tmp_path / "out") == content_of(source)
    assert skills("export", tmp_path / "out.zip")[1] == ""
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
        mode = archive.getinfo(f"pdf-forms/{EXECUTABLE}").external_attr >> 16
    assert stat.S_IMODE(mode) == 0o755
    unpacked = content_of(tmp_path / "unpacked/pdf-forms")
    assert {path: content for path, (content, _) in unpacked.items()} == FORMS

    assert skills("import", tmp_path / "out.zip") == ("unchanged: pdf-forms 1.4.0\n", "")
    assert skills("import", tmp_path / "out") == ("unchanged: pdf-forms 1.4.0\n", "")


def test_what_stands_above_the_text_becomes_fields(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    skills("import", write(tmp_path / "pdf-forms", FORMS))

    (skill,) = call("skill_list").skills
    assert (skill.name, skill.author, skill.version) == ("pdf-forms", "acme", "1.4.0")
    assert skill.description.startswith("Fills the forms of a PDF. Use when somebody asks for")
    assert skill.content.startswith("# Fill a form")
    assert (skill.category, skill.metadata) == ("general", {"reviewed": "2026-01-31"})
    assert Skill.objects.get().front_matter["license"] == "Apache-2.0"
    files = call("skill_apply", id=skill.id).files
    assert "skill://pdf-forms/references/regional/eu/VAT.md" in files
    assert len(files) == len(FORMS) - 1


def test_a_changed_folder_is_a_new_version(tmp_path: Path, call: Call, warm_model: None) -> None:
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    (folder / EXECUTABLE).write_bytes(b"print('better')")

    assert skills("import", folder, "--note", "faster")[0] == "changed: pdf-forms 1.4.1\n"
    (folder / "SKILL.md").write_bytes(PDF.replace(b'"1.4"', b'"2.0"'))
    assert skills("import", folder)[0] == "changed: pdf-forms 2.0.0\n"

    (skill,) = call("skill_list").skills
    history = call("skill_history", id=skill.id).versions
    assert [(one.version, one.note) for one in history] == [
        ("2.0.0", "imported"),
        ("1.4.1", "faster"),
        ("1.4.0", "imported"),
    ]
    assert SkillFile.objects.filter(skill=int(skill.id)).count() == len(FORMS) + 2


def test_an_edited_one_keeps_what_its_author_wrote_besides(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    skills("import", write(tmp_path / "pdf-forms", FORMS))
    (skill,) = call("skill_list").skills
    call("skill_update", id=skill.id, description="Fills in forms", tags=["pdf", "forms"])

    skills("export", tmp_path / "out")
    written = content_of(tmp_path / "out/pdf-forms")
    text = written["SKILL.md"][0].decode()
    assert "description: Fills in forms\n" in text
    assert "license: Apache-2.0\n" in text
    assert "  version: 1.4.1\n" in text
    assert "  tags: pdf, forms\n" in text
    assert text.endswith(PDF.decode().partition("---\n\n")[2])
    assert {path: content for path, (content, _) in written.items() if path != "SKILL.md"} == {
        path: content for path, content in FORMS.items() if path != "SKILL.md"
    }


def test_a_version_restored_has_its_own_files(tmp_path: Path, call: Call, warm_model: None) -> None:
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    (folder / "assets/stamp.png").unlink()
    skills("import", folder)
    (skill,) = call("skill_list").skills
    assert len(call("skill_get", id=skill.id).files) == len(FORMS) - 2

    call("skill_restore", id=skill.id, version="1.4.0")
    assert len(call("skill_get", id=skill.id).files) == len(FORMS) - 1


def test_one_made_by_a_tool_comes_back_whole(tmp_path: Path, call: Call, create: Create) -> None:
    fields = {
        "description": "Long. " * 300,
        "content": "\n---\nkey: no front matter\n---\n# Heading\n\n  text  ",
        "prerequisites": ["one: two", "- three"],
        "expected_outcome": "line\nline",
        "tags": ["a b", "yes", "1.0"],
        "metadata": {"since": "2026-01-31", "quoted": "'\" # \u2028 \t", "number": "1e3"},
        "version": "2.0.0-rc.1+5",
    }
    before = call("skill_get", id=create("Überprüfe: «Code»", **fields))
    skills("export", tmp_path / "out")
    call("skill_delete", id=before.id)

    assert skills("validate", tmp_path / "out") == ("1 skills are good\n", "")
    skills("import", tmp_path / "out")
    (skill,) = call("skill_list").skills
    after = call("skill_get", id=skill.id)
    changing = {"id", "created_at", "updated_at", "content"}
    assert after.model_dump(exclude=changing) == before.model_dump(exclude=changing)
    assert after.content.strip("\n") == before.content.strip("\n")


def test_a_work_tree_gives_what_git_does_not_ignore(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "skills/one", {"SKILL.md": document("one"), "secret.log": b"", "a.md": b"a"})
    write(tmp_path / "build/two", {"SKILL.md": document("two")})
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S607

    assert skills("import", tmp_path)[0] == "new: one 1.0.0\n"
    paths = SkillFile.objects.values_list("path", flat=True)
    assert sorted(paths) == ["SKILL.md", "a.md"]


def test_a_skill_within_a_skill_belongs_to_it(tmp_path: Path, warm_model: None) -> None:
    inner = {"SKILL.md": document("outer"), "inner/SKILL.md": document("inner")}
    write(tmp_path / "outer", inner)

    assert skills("import", tmp_path)[0] == "new: outer 1.0.0\n"
    assert SkillFile.objects.count() == 2


def test_skills_of_a_project_stay_there(tmp_path: Path, create: Create) -> None:
    create("one")
    write(tmp_path / "in/one", {"SKILL.md": document("one")})

    assert skills("import", tmp_path / "in", "--project", "/w/shop")[0] == "new: one 1.0.0\n"
    project = Skill.objects.exclude(project=None).get().project_id
    skills("export", tmp_path / "out")
    assert {
        path.parent.relative_to(tmp_path / "out").as_posix()
        for path in (tmp_path / "out").rglob("SKILL.md")
    } == {"one", f"project.{project}/one"}


def test_drafts_and_retired_ones_are_changed_too(tmp_path: Path, warm_model: None) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one")})
    skills("import", folder)
    Skill.objects.update(state=State.RETIRED)
    (folder / "SKILL.md").write_bytes(document("one", license="MIT"))

    assert skills("import", folder)[0] == "changed: one 1.0.1\n"
    assert Skill.objects.get().state == State.RETIRED
    assert skills("export", tmp_path / "none")[0].startswith("0 skills")
    assert skills("export", tmp_path / "all", "--all")[0].startswith("1 skills")


def test_nothing_is_written_over_unasked(tmp_path: Path, create: Create) -> None:
    create("one")
    create("two")
    write(tmp_path / "out/one", {"mine": b"mine"})

    assert "holds one already" in skills("export", tmp_path / "out")[1]
    assert content_of(tmp_path / "out/one") == {"mine": (b"mine", False)}
    assert skills("export", tmp_path / "out", "one", "--replace")[1] == ""
    assert content_of(tmp_path / "out").keys() == {"one/SKILL.md"}
    assert "no skill named three" in skills("export", tmp_path / "x", "three")[1]
    assert list(tmp_path.glob("out/.*")) == []


def test_a_credential_in_a_file_is_told(tmp_path: Path, warm_model: None) -> None:
    leaking = document("one") + b"Connect to postgresql://app:s3cretpass@db/shop\n"
    out, err = skills("import", write(tmp_path / "one", {"SKILL.md": leaking}))

    assert out == "new: one 1.0.0\n"
    assert "looks like a credential" in err


LONG = "x" * 1025
WRONG: list[tuple[str, Mapping[str, bytes], str]] = [
    ("one", {"SKILL.md": b"# No front matter"}, "must begin with front matter"),
    ("one", {"SKILL.md": b"---\nname: one\n"}, "must begin with front matter"),
    ("one", {"SKILL.md": b"---\n---\ntext"}, "must be a map"),
    ("one", {"SKILL.md": b"---\nname: [\n---\ntext"}, "line 3: "),
    ("one", {"SKILL.md": b"---\na: &a [x]\nb: *a\n---\nx"}, "holds an alias"),
    ("one", {"SKILL.md": b"---\na: !!binary aGk=\n---\nx"}, "neither text, number"),
    ("one", {"SKILL.md": b"---\na: " + b"[" * 5000 + b"\n---\nx"}, "front matter"),
    ("one", {"SKILL.md": b'---\na: "\\0"\n---\nx'}, "NUL"),
    ("one", {"SKILL.md": b"---\nname: one\ndescription: \xff\n---\nx"}, "is not UTF-8"),
    ("one", {"SKILL.md": document("two")}, "'two' must be that of its folder, 'one'"),
    ("one", {"SKILL.md": document("One")}, "'One' must be lower-case letters"),
    ("a--b", {"SKILL.md": document("a--b")}, "single hyphens"),
    ("one", {"SKILL.md": document("one", description=LONG)}, "1025 characters, at most 1024"),
    ("one", {"SKILL.md": document("one", description="")}, "description is required"),
    ("one", {"SKILL.md": document("one", metadata="text")}, "metadata must be a map"),
    ("one", {"SKILL.md": document("one") .replace(b"Do it", b"")}, "no instructions"),
    ("one", {"SKILL.md": document("one") + b"x" * 50_001}, "at most 50000 are kept"),
    ("one", {"SKILL.md": document("one"), "big": bytes(16 * 1024 * 1024)}, "larger than 512 files"),
    ("one", {"SKILL.md": document("one"), **{f"{n}": b"" for n in range(512)}}, "512 files"),
    ("one", {"SKILL.md": document("one"), "a": b"", "A": b""}, "is there twice"),
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


def test_what_is_wrong_is_refused_and_the_rest_is_kept(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "bad", {"SKILL.md": document("good")})
    write(tmp_path / "good", {"SKILL.md": document("good")})

    out, err = skills("import", tmp_path)
    assert out == "refused: bad\nnew: good 1.0.0\n"
    assert err.endswith("1 of 2 were refused; the others are kept")


def test_two_of_one_name_are_not_taken_for_versions(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "a/one", {"SKILL.md": document("one")})
    write(tmp_path / "b/one", {"SKILL.md": document("one", license="MIT")})

    out, err = skills("import", tmp_path)
    assert out == "new: one 1.0.0\nrefused: b/one\n"
    assert "b/one: one is in it twice" in err


CLIMBING = ["../evil/SKILL.md", "/etc/SKILL.md", "a/../../SKILL.md", "a\\..\\SKILL.md"]
UNCLEAN = ["C:/SKILL.md", "./SKILL.md", "a//SKILL.md"]


@pytest.mark.parametrize("path", [*CLIMBING, *UNCLEAN])
def test_paths_that_climb_out_of_an_archive_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "bad.zip").write_bytes(zipped({path: document("one")}))

    assert "leads out of the folder" in skills("import", tmp_path / "bad.zip")[1]
    assert not Skill.objects.exists()


def test_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    write(tmp_path / "in/one", {"SKILL.md": document("one")})
    (tmp_path / "in/one/key").symlink_to(tmp_path / "key")
    link = zipfile.ZipInfo("one/key")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("one/SKILL.md", document("one"))
        archive.writestr(link, "/etc/passwd")

    assert "is a link" in skills("import", tmp_path / "in")[1]
    assert "is a link" in skills("import", tmp_path / "in.zip")[1]


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    heavy = tmp_path / "heavy.zip"
    with zipfile.ZipFile(heavy, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one/SKILL.md", document("one"))
        archive.writestr("one/zeros", bytes(17 * 1024 * 1024))
    (tmp_path / "many.zip").write_bytes(
        heavy.read_bytes().replace(
            (17 * 1024 * 1024).to_bytes(4, "little"), (MOST_UNPACKED + 1).to_bytes(4, "little")
        )
    )
    (tmp_path / "lying.zip").write_bytes(
        heavy.read_bytes().replace((17 * 1024 * 1024).to_bytes(4, "little"), b"\x10\0\0\0")
    )

    assert "17,825,792 bytes" in skills("import", heavy)[1]
    assert "at most 50,000 and 268,435,456 are read" in skills("import", tmp_path / "many.zip")[1]
    assert "no zip archive" in skills("import", tmp_path / "lying.zip")[1]
    (tmp_path / "text.zip").write_text("no zip")
    assert "no zip archive" in skills("import", tmp_path / "text.zip")[1]
    assert "neither a folder nor a file" in skills("import", tmp_path / "nothing")[1]
    assert "there is no SKILL.md" in skills("import", write(tmp_path / "empty", {"a": b""}))[1]


@needs_node
def test_a_folder_of_skills_that_others_publish_is_taken_in(
    tmp_path: Path, warm_model: None
) -> None:
    published = FOLDER / "@modelcontextprotocol/inspector/skills"

    assert skills("import", published)[0] == "new: mcpdo 1.0.0\n"
    skills("export", tmp_path)
    assert content_of(tmp_path) == content_of(published)
