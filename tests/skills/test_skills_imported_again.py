"""`manage.py skills import` of skills that are here already: what it keeps and replaces."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from skills.models import Skill, SkillFile
from tests.admin import messages_of
from tests.conftest import Call
from tests.skills.packages import FORMS, PDF, content_of, document, skills, write

pytestmark = pytest.mark.django_db(transaction=True)

EDITED = "was edited here since; to import it nevertheless, replace the edits (--replace, or the"


def test_edits_stay_while_the_folder_has_not_changed(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    skill = call("skill_list").skills[0].id
    call("skill_update", id=skill, content="better")

    out, err = skills("import", folder)
    assert out == "unchanged: pdf-forms 1.4.1\n"
    assert err == (f".: it has not changed since it became 1.4.0, and {EDITED} box in the admin)\n")
    assert call("skill_get", id=skill).content == "better"
    assert skills("import", folder, "--replace") == ("changed: pdf-forms 1.4.2\n", "")
    assert call("skill_get", id=skill).content.startswith("# Fill a form")


def test_starters_that_were_edited_stay(call: Call, warm_model: None) -> None:
    skills("import", "--starter")
    (found,) = (one for one in call("skill_list", limit=100).skills if one.name == "Cut a release")
    call("skill_update", id=found.id, content="as we do it")

    out, err = skills("import", "--starter")
    assert out.count("unchanged: ") == 12
    assert err.count(EDITED) == 1
    assert call("skill_get", id=found.id).content == "as we do it"


def test_a_folder_that_went_back_is_a_change(tmp_path: Path, warm_model: None) -> None:
    folder = tmp_path / "one"
    told = [
        skills("import", write(folder, {"SKILL.md": document("one", license=license)}))
        for license in ("MIT", "BSD", "MIT")
    ]
    assert told == [
        ("new: one 1.0.0\n", ""),
        ("changed: one 1.0.1\n", ""),
        ("changed: one 1.0.2\n", ""),
    ]


def test_what_was_exported_and_imported_counts_as_imported(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    skills("import", write(tmp_path / "pdf-forms", FORMS))
    skill = call("skill_list").skills[0].id
    call("skill_update", id=skill, content="exported")
    skills("export", tmp_path / "out")
    assert skills("import", tmp_path / "out") == ("unchanged: pdf-forms 1.4.1\n", "")
    call("skill_update", id=skill, content="edited")

    assert EDITED in skills("import", tmp_path / "out")[1]
    assert call("skill_get", id=skill).content == "edited"


def test_a_document_alone_keeps_the_other_files(tmp_path: Path, call: Call, create: Any) -> None:
    create("other")
    folder = write(tmp_path / "pdf-forms", FORMS)
    skills("import", folder)
    (folder / "SKILL.md").write_bytes(PDF.replace(b"1.4", b"1.5"))

    out, err = skills("import", folder / "SKILL.md")
    assert out == "changed: pdf-forms 1.5.0\n"
    assert err == (
        ".: its other files stay as they are\n"
        ".: only the SKILL.md is read; to have the files beside it too, give their folder\n"
    )
    skills("export", tmp_path / "out", "pdf-forms")
    assert content_of(tmp_path / "out/pdf-forms") == content_of(folder)
    assert skills("import", folder / "SKILL.md")[0] == "unchanged: pdf-forms 1.5.0\n"
    skill = Skill.objects.get(slug="pdf-forms")
    call("skill_update", id=str(skill.pk), content="edited")
    assert EDITED in skills("import", folder / "SKILL.md")[1]


def test_a_document_alone_is_a_new_skill_without_remarks(tmp_path: Path, warm_model: None) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one")})

    assert skills("import", folder / "SKILL.md") == ("new: one 1.0.0\n", "")


def test_an_upload_keeps_files_and_edits_unless_it_shall_replace_them(
    tmp_path: Path, admin_client: Client, call: Call, warm_model: None
) -> None:
    skills("import", write(tmp_path / "pdf-forms", FORMS))
    skill = call("skill_list").skills[0].id

    def upload(content: bytes, **fields: str) -> list[str]:
        form = {"file": SimpleUploadedFile("SKILL.md", content), **fields}
        page = admin_client.post("/admin/skills/skill/take-in/", form, follow=True)
        return messages_of(page)

    told = upload(PDF.replace(b"1.4", b"1.5"))
    assert told == ["changed: pdf-forms 1.5.0", ".: its other files stay as they are"]
    assert SkillFile.objects.filter(versions__version="1.5.0").count() == len(FORMS)
    call("skill_update", id=skill, content="edited")
    assert EDITED in upload(PDF.replace(b"1.4", b"1.5"))[1]
    assert upload(PDF.replace(b"1.4", b"1.5"), replace="on")[0] == "changed: pdf-forms 1.5.2"
