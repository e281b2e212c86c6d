import dataclasses
import re
from typing import Any

import pytest

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed, NotFound
from skills.models import Skill
from tests.conftest import Call, StrangerTo
from tests.skills.conftest import Create, skill_fields

EXAMPLE = {
    "name": "Debug Go Race Conditions",
    "description": "Systematic approach to debugging race conditions in Go",
    "content": "# Debug Race Conditions\n\n1. Run with -race flag...",
    "version": "1.0.0",
    "author": "contextd team",
    "category": "debugging",
    "tags": ["go", "concurrency", "debugging"],
}


def test_the_example_of_the_specification_is_kept_whole(call: Call) -> None:
    created = call("skill_create", **EXAMPLE)

    found = call("skill_get", id=created.id)
    assert (created.name, created.version) == ("Debug Go Race Conditions", "1.0.0")
    assert created.token_count > 15
    assert created.notice is None
    assert {field: getattr(found, field) for field in EXAMPLE} == EXAMPLE
    assert (found.usage_count, found.success_rate, found.rated_count) == (0, 0.0, 0)
    assert (found.prerequisites, found.expected_outcome, found.metadata) == ([], "", {})
    assert found.files == []


def test_all_that_a_skill_may_hold_is_kept(call: Call, create: Create) -> None:
    fields = {
        "prerequisites": ["Go 1.21", "a test that fails"],
        "expected_outcome": "no race is reported",
        "tags": ["a", "b", "a"],
        "metadata": {"language": "go", "since": 1.21},
        "category": " Debugging ",
    }
    skill = call("skill_get", id=create("races", **fields))

    assert skill.prerequisites == ["Go 1.21", "a test that fails"]
    assert skill.expected_outcome == "no race is reported"
    assert skill.tags == ["a", "b"]
    assert skill.metadata == {"language": "go", "since": "1.21"}
    assert skill.category == "debugging"


@pytest.mark.parametrize("character", ["[", "\U000e0001", "\u2028", "\n"])
def test_all_fields_may_be_as_long_as_they_are_allowed_to_be(
    call: Call, create: Create, character: str
) -> None:
    metadata = {f"{n:03}{character * 47}": character * 500 for n in range(100)}
    filled = f"x{character * 198}x"
    most = {
        "description": f"x{character * 1998}x",
        "author": filled,
        "prerequisites": [filled] * 100,
        "expected_outcome": character * 1000,
        "metadata": metadata,
    }
    pk = create("one", **most, content="\U0001f600" * 50_000)

    call("skill_update", id=pk, tags=["a"])
    assert call("skill_get", id=pk).metadata == metadata


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("name", "x" * 201, "name has 201 characters, at most 200 are kept"),
        ("name", "  ", "name is required"),
        ("description", "x" * 2001, "description has 2001 characters, at most 2000 are kept"),
        ("content", "x" * 50_001, "content has 50001 characters, at most 50000 are kept"),
        ("content", "", "content is required"),
        ("version", "1.0", "version must be a semantic version, such as 1.4.0"),
        ("version", "v1.0.0", "version must be a semantic version"),
        ("version", "1.0.0-" + "x" * 60, "version has 66 characters, at most 64 are kept"),
        ("author", "x" * 201, "author has 201 characters"),
        ("category", "x" * 51, "category has 51 characters"),
        ("prerequisites", ["x"] * 101, "prerequisites has 101 entries, at most 100 are kept"),
        ("prerequisites", ["x" * 201], "prerequisites.0 has 201 characters"),
        ("expected_outcome", "x" * 1001, "expected_outcome has 1001 characters"),
        ("tags", ["x"] * 21, "tags has 21 entries"),
        ("tags", ["x" * 51], "tags.0 has 51 characters"),
        ("tags", ["a, b"], "tags.0 must be one label, without a comma or a line break"),
        ("metadata", {str(n): "" for n in range(101)}, "metadata has 101 keys"),
        ("metadata", {"x" * 51: ""}, "metadata has a key that is too long"),
        ("metadata", {"x": "y" * 501}, "metadata has a value that is too long at 'x'"),
        (
            "metadata",
            {"version": "9"},
            "metadata must not contain the key 'version'.*field version",
        ),
        ("metadata", {"title": "x"}, "metadata must not contain the key 'title'.*the field name"),
    ],
)
def test_what_breaks_a_limit_is_named(call: Call, field: str, wrong: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message.replace("(", "\\(")):
        call("skill_create", **skill_fields("x", **{field: wrong}))

    assert not Skill.objects.exists()


def test_what_is_missing_is_named_all_at_once(call: Call) -> None:
    with pytest.raises(Invalid) as raised:
        call("skill_create", name="x")

    missing = [problem["field"] for problem in raised.value.details["problems"]]
    assert missing == ["description", "content", "version", "author", "category"]


@pytest.mark.parametrize("again", ["Review code", "review  code", "review-code"])
def test_a_name_is_given_once(call: Call, create: Create, again: str) -> None:
    first = create("Review code")

    with pytest.raises(Invalid, match=rf"already \(id {first}, published\).*skill_update"):
        call("skill_create", **skill_fields(again))
    create("Review code", project_path="/w/shop")


def test_names_that_differ_in_signs_or_letters_of_other_scripts_are_others(
    call: Call, create: Create
) -> None:
    names = ["C style", "C++ style", "C# style", "部署 API", "测试 API", "x²", "x2"]
    for name in names:
        create(name)

    assert Skill.objects.get(name="C style").slug == "c-style"
    assert re.fullmatch("c-style-[0-9a-f]{8}", Skill.objects.get(name="C# style").slug)
    for again in ("c#  Style", "C_STYLE", "Ć style"):
        with pytest.raises(Invalid, match=r"skill named 'C#? style' exists already"):
            call("skill_create", **skill_fields(again))


@pytest.mark.parametrize("state", ["draft", "retired"])
def test_a_skill_that_is_not_used_is_not_said_to_be_updated(
    call: Call, create: Create, state: str
) -> None:
    skill = create("Review code")
    Skill.objects.update(state=state)

    expected = rf"'Review code' exists already \(id {skill}, {state}\): ask a curator to publish it"
    with pytest.raises(Invalid, match=expected):
        call("skill_create", **skill_fields("review-code"))


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Debug Go!", "debug-go"),
        ("a_b--c", "a-b-c"),
        ("x" * 70, "x" * 55 + "-"),
        ("日本語", "skill-"),
        ("Überprüfung", "uberprufung"),
    ],
)
def test_the_name_in_files_is_made_of_the_name(
    call: Call, create: Create, name: str, slug: str
) -> None:
    create(name)

    made = Skill.objects.get().slug
    assert made.startswith(slug)
    assert len(made) <= 64


def test_a_skill_of_a_project_is_seen_where_that_is_granted(
    call: Call, create: Create, stranger_to: StrangerTo
) -> None:
    secret = create("rotate the keys", project_path="/w/secret")
    shared = create("rotate the logs")

    stranger = stranger_to("/w/secret")
    for name in ("skill_get", "skill_apply", "skill_history", "skill_update", "skill_delete"):
        with pytest.raises(NotFound, match=f"there is no skill with id '{secret}'"):
            pipeline.call(name, {"id": secret}, stranger)
    assert pipeline.call("skill_get", {"id": shared}, stranger).id == shared  # type: ignore[attr-defined]
    assert call("skill_get", id=secret).id == secret


def test_a_clone_elsewhere_names_its_project_by_the_remote(call: Call, create: Create) -> None:
    remote = "git@example.com:acme/shop.git"
    create("release", project_path="/home/ann/shop", git_remote=remote)
    create("review", project_path="/home/ben/shop", git_remote="https://example.com/acme/shop")

    ann, ben = Skill.objects.order_by("pk")
    assert ann.project is not None
    assert ann.project == ben.project


def test_nothing_is_made_in_a_project_that_is_not_granted(
    create: Create, stranger_to: StrangerTo
) -> None:
    create("one", project_path="/w/secret")

    stranger = stranger_to("/w/secret")
    arguments = skill_fields("two", project_path="/w/secret")
    with pytest.raises(NotAllowed, match="contains no project for /w/secret"):
        pipeline.call("skill_create", arguments, stranger)


def test_where_the_context_asks_for_review_it_waits(
    call: Call, reviewed: Caller, curator: Caller
) -> None:
    created: Any = pipeline.call("skill_create", skill_fields("one"), reviewed)

    assert "review" in created.notice
    assert call("skill_list").total == 0
    assert call("skill_search", query="one").results == []
    with pytest.raises(NotFound):
        call("skill_apply", id=created.id)
    through_the_admin = dataclasses.replace(reviewed, door="admin")
    with pytest.raises(NotFound):
        pipeline.call("skill_get", {"id": created.id}, through_the_admin)
    pipeline.call("skill_get", {"id": created.id}, curator)


def test_credentials_are_replaced(call: Call) -> None:
    content = "Connect to postgresql://app:s3cretpass@db/shop"
    created = call("skill_create", **skill_fields("x", content=content))

    assert created.redacted == 1
    assert "s3cretpass" not in call("skill_get", id=created.id).content
