from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid, NotFound
from skills.models import Skill
from tests.conftest import Call
from tests.skills.conftest import Create
from tests.skills.packages import document, skills, write


def versions(call: Call, skill: str) -> list[str]:
    return [version.version for version in call("skill_history", id=skill).versions]


def test_what_is_given_changes_and_the_rest_stays(call: Call, create: Create) -> None:
    skill = create("one", tags=["a"], metadata={"k": "v"})
    before = call("skill_get", id=skill)

    updated = call("skill_update", id=skill, content="Do it", expected_outcome="done")

    after = call("skill_get", id=skill)
    assert (updated.id, updated.name, updated.version) == (skill, "one", "1.0.1")
    assert updated.notice is None
    assert (after.content, after.expected_outcome, after.version) == ("Do it", "done", "1.0.1")
    assert after.updated_at == updated.updated_at > before.updated_at
    changed = {"content", "expected_outcome", "version", "current_version", "updated_at"}
    assert after.model_dump(exclude=changed) == before.model_dump(exclude=changed)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("1.0.0", "1.0.1"),
        ("0.9.0", "1.0.1"),
        ("1.0.0+build.7", "1.0.1"),
        ("1.1.0", "1.1.0"),
        ("2.0.0-rc.1", "2.0.0-rc.1"),
    ],
)
def test_a_version_that_does_not_raise_it_becomes_the_next_patch_level(
    call: Call, create: Create, asked: str, kept: str
) -> None:
    skill = create("one")

    updated = call("skill_update", id=skill, content="Do it", version=asked)
    assert updated.version == kept
    assert (updated.notice is None) == (asked in (kept, "1.0.0"))


def test_a_version_that_no_patch_level_can_follow_says_so(call: Call, create: Create) -> None:
    skill = create("one", version=f"1.0.{'9' * 60}")

    with pytest.raises(Invalid, match=r"give a higher version, such as 1\.1\.0"):
        call("skill_update", id=skill, description="new")
    assert call("skill_update", id=skill, description="new", version="1.1.0").version == "1.1.0"


def test_a_version_can_be_raised_alone(call: Call, create: Create) -> None:
    skill = create("one")

    assert call("skill_update", id=skill, version="2.0.0").version == "2.0.0"
    assert versions(call, skill) == ["2.0.0", "1.0.0"]


def test_what_changes_nothing_makes_no_version(call: Call, create: Create) -> None:
    skill = create("one", tags=["a"])

    updated = call("skill_update", id=skill, name="one", tags=["a", "a"], version="1.0.0")
    assert "Nothing changed" in updated.notice
    assert versions(call, skill) == ["1.0.0"]


def test_an_older_version_is_read_as_it_was(call: Call, create: Create) -> None:
    skill = create("one", content="first")
    call("skill_update", id=skill, content="second", name="two", note="clearer")

    first = call("skill_get", id=skill, version="1.0.0")
    assert (first.name, first.content, first.version) == ("one", "first", "1.0.0")
    assert first.current_version == "1.0.1"
    assert call("skill_get", id=skill).content == "second"
    with pytest.raises(NotFound, match=r"has no version '3\.0\.0'"):
        call("skill_get", id=skill, version="3.0.0")


def test_the_history_tells_who_when_and_why(call: Call, create: Create, curator: Caller) -> None:
    skill = create("one")
    by = Caller(principal="user:7", door="mcp", entry=curator.entry)
    pipeline.call("skill_update", {"id": skill, "content": "x", "note": "shorter"}, by)
    call("skill_update", id=skill, tags=["t"])

    history = call("skill_history", id=skill, limit=2)
    told = [(one.version, one.changed_by, one.note) for one in history.versions]
    assert told == [("1.0.2", "tester", ""), ("1.0.1", "user:7", "shorter")]
    assert (history.total, history.limit, history.offset) == (3, 2, 0)
    assert history.versions[0].created_at > history.versions[1].created_at


def test_it_is_found_by_its_new_words_alone(call: Call, create: Create) -> None:
    skill = create("one", content="about zeppelins")
    call("skill_update", id=skill, content="about submarines")

    (match,) = call("skill_search", query="submarines").results
    assert match.id == skill
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(text, ' ') FROM search_passage")
        assert "zeppelins" not in cursor.fetchone()[0]


def test_restoring_says_again_what_an_earlier_version_said(call: Call, create: Create) -> None:
    skill = create("one", content="first", tags=["a"])
    call("skill_update", id=skill, content="second", name="two", tags=["b"])

    restored = call("skill_restore", id=skill, version="1.0.0")

    now = call("skill_get", id=skill)
    assert restored.version == now.version == "1.0.2"
    assert (now.name, now.content, now.tags) == ("one", "first", ["a"])
    newest = call("skill_history", id=skill).versions[0]
    assert newest.note == "restored 1.0.0"
    assert call("skill_search", query="first").results[0].id == skill


def test_restoring_what_is_there_changes_nothing(call: Call, create: Create) -> None:
    skill = create("one")

    assert "Nothing" in call("skill_restore", id=skill, version="1.0.0").notice
    with pytest.raises(NotFound):
        call("skill_restore", id=skill, version="7.0.0")


def test_restoring_brings_back_what_stands_above_the_text(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one", license="MIT")})
    skills("import", folder)
    (folder / "SKILL.md").write_bytes(document("one", license="Apache-2.0"))
    skills("import", folder)
    (skill,) = call("skill_list").skills

    restored = call("skill_restore", id=skill.id, version="1.0.0")
    assert (restored.version, restored.notice) == ("1.0.2", None)
    assert Skill.objects.get().front_matter["license"] == "MIT"
    assert "Nothing" in call("skill_restore", id=skill.id, version="1.0.0").notice
    assert "Nothing" in call("skill_update", id=skill.id, name="one").notice


def test_files_are_told_of_the_current_version_alone(
    tmp_path: Path, call: Call, warm_model: None
) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one"), "a.md": b"a"})
    skills("import", folder)
    (folder / "a.md").write_bytes(b"b")
    skills("import", folder)
    (skill,) = call("skill_list").skills

    current = call("skill_get", id=skill.id, version="1.0.1")
    assert current.files == call("skill_get", id=skill.id).files == ["skill://one/a.md"]
    assert call("skill_get", id=skill.id, version="1.0.0").files == []


def test_another_name_must_not_be_taken(call: Call, create: Create) -> None:
    create("one")
    other = create("two")

    with pytest.raises(Invalid, match="skill named 'one' exists already"):
        call("skill_update", id=other, name="One")
    assert call("skill_update", id=other, name="Two").name == "Two"


def test_a_description_may_become_long_and_short_again(call: Call, create: Create) -> None:
    skill = create("one")
    long = call("skill_update", id=skill, description="Long. " * 300)
    short = call("skill_update", id=skill, description="Short")

    assert (long.version, short.version) == ("1.0.1", "1.0.2")
    assert call("skill_update", id=skill, tags=["t"]).version == "1.0.3"
    front = Skill.objects.get().front_matter
    assert (front["description"], "description" in front["metadata"]) == ("Short", False)


def test_counts_survive_updates(call: Call, create: Create) -> None:
    skill = create("one")
    call("skill_apply", id=skill, success=True)
    call("skill_update", id=skill, content="x")
    call("skill_restore", id=skill, version="1.0.0")

    kept = call("skill_get", id=skill)
    assert (kept.usage_count, kept.success_rate, kept.rated_count) == (1, 1.0, 1)


def test_where_the_context_asks_for_review_a_change_waits(
    call: Call, create: Create, reviewed: Caller, curator: Caller
) -> None:
    skill = create("one", content="first")
    asked = {"id": skill, "content": "zeppelins"}
    proposed: Any = pipeline.call("skill_update", asked, reviewed)

    assert "review" in proposed.notice
    assert call("skill_get", id=skill).content == "first"
    assert versions(call, skill) == ["1.0.0"]
    with pytest.raises(NotFound):
        call("skill_get", id=skill, version=proposed.version)
    with pytest.raises(NotFound):
        call("skill_restore", id=skill, version=proposed.version)
    assert call("skill_search", query="zeppelins").results[0].content == "first"

    pipeline.call("skill_restore", {"id": skill, "version": proposed.version}, curator)
    assert call("skill_get", id=skill).content == "zeppelins"


def test_changes_of_two_at_once_both_stay(call: Call, create: Create) -> None:
    skill = create("one")

    def change(**fields: Any) -> None:
        try:
            call("skill_update", id=skill, **fields)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(change, content="x"), pool.submit(change, description="y")]
    for done in running:
        done.result()

    now = call("skill_get", id=skill)
    assert (now.content, now.description, now.version) == ("x", "y", "1.0.2")
