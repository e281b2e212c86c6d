"""`manage.py skills`: from and to the files of the Agent Skills format."""

import stat
import zipfile
from pathlib import Path

import playwright
import pytest

from skills.models import Skill, SkillFile, State
from tests.conftest import Call
from tests.skills.conftest import Create
from tests.skills.packages import (
    EXECUTABLE,
    FORMS,
    PDF,
    content_of,
    document,
    skills,
    write,
)

pytestmark = pytest.mark.django_db(transaction=True)


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

    assert "it has 501 characters" in skills("import", folder, "--note", "x" * 501)[1]
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

    assert skills("validate", tmp_path / "out") == ("1 skills are valid\n", "")
    skills("import", tmp_path / "out")
    (skill,) = call("skill_list").skills
    after = call("skill_get", id=skill.id)
    changing = {"id", "created_at", "updated_at", "content"}
    assert after.model_dump(exclude=changing) == before.model_dump(exclude=changing)
    assert after.content.strip("\n") == before.content.strip("\n")


def test_a_skill_within_a_skill_belongs_to_it(tmp_path: Path, warm_model: None) -> None:
    inner = {"SKILL.md": document("outer"), "inner/SKILL.md": document("inner")}
    write(tmp_path / "outer", inner)

    assert skills("import", tmp_path)[0] == "new: outer 1.0.0\n"
    assert SkillFile.objects.count() == 2


def test_drafts_and_retired_ones_are_changed_too(tmp_path: Path, warm_model: None) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one")})
    skills("import", folder)
    Skill.objects.update(state=State.RETIRED)
    (folder / "SKILL.md").write_bytes(document("one", license="MIT"))

    assert skills("import", folder)[0] == "changed: one 1.0.1\n"
    assert Skill.objects.get().state == State.RETIRED
    assert skills("export", tmp_path / "none")[0].startswith("0 skills")
    assert skills("export", tmp_path / "all", "--all")[0].startswith("1 skills")


def test_a_credential_in_any_file_is_refused_unless_it_is_allowed(
    tmp_path: Path, warm_model: None
) -> None:
    leaking = b"# Connect\npostgresql://app:s3cretpass@db/shop\n"
    write(tmp_path / "a", {"SKILL.md": document("a"), "scripts/x.sh": leaking, "b": b"\xff"})
    write(tmp_path / "b", {"SKILL.md": document("b")})

    out, err = skills("import", tmp_path)
    assert out == "refused: a\nnew: b 1.0.0\n"
    assert "a: scripts/x.sh, line 2, looks like a credential (" in err
    assert "--allow-credentials" in err
    assert "s3cretpass" not in err
    out, err = skills("import", tmp_path, "--allow-credentials")
    assert out == "new: a 1.0.0\nunchanged: b 1.0.0\n"
    assert "a: scripts/x.sh, line 2, looks like a credential (" in err
    assert skills("import", tmp_path)[1] == ""


def test_what_is_wrong_is_refused_and_the_rest_is_kept(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "bad", {"SKILL.md": document("good")})
    write(tmp_path / "good", {"SKILL.md": document("good")})

    out, err = skills("import", tmp_path)
    assert out == "refused: bad\nnew: good 1.0.0\n"
    assert err.endswith("1 of 2 were refused; the others are imported")


def test_two_of_one_name_are_not_taken_for_versions(tmp_path: Path, warm_model: None) -> None:
    write(tmp_path / "a/one", {"SKILL.md": document("one")})
    write(tmp_path / "b/one", {"SKILL.md": document("one", license="MIT")})

    out, err = skills("import", tmp_path)
    assert out == "new: one 1.0.0\nrefused: b/one\n"
    assert "b/one: one occurs twice" in err


def test_a_folder_of_skills_that_others_publish_is_taken_in(
    tmp_path: Path, warm_model: None
) -> None:
    published = Path(playwright.__file__).parent / "driver/package/lib/tools/skills"

    names = ["playwright-cli", "playwright-component-testing", "playwright-trace"]
    assert skills("import", published) == ("".join(f"new: {name} 1.0.0\n" for name in names), "")
    assert SkillFile.objects.filter(path__startswith="references/").count() > 10
    skills("export", tmp_path)
    assert content_of(tmp_path) == content_of(published)
    assert skills("import", published)[0].count("unchanged: ") == len(names)
