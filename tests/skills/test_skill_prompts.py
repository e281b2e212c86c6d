"""Skills as MCP prompts, with the arguments that they declare."""

import tracemalloc
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.management import call_command

from contextd import prompts
from contextd.callers import Caller
from skills.models import Skill
from tests.plain_http import ask
from tests.skills.conftest import Create
from tests.skills.packages import ROOT, document, write

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]


def say(http: httpx2.Client, prompt: str, **arguments: str) -> Any:
    return ask(http, "prompts/get", name=prompt, arguments=arguments)


def prompts_of_skills(http: httpx2.Client) -> dict[str, Any]:
    listed = ask(http, "prompts/list")["prompts"]
    return {one["name"]: one for one in listed if one["name"].startswith("skill_")}


def text_of(result: Any) -> str:
    (message,) = result["messages"]
    assert message["role"] == "user"
    text: str = message["content"]["text"]
    return text


def test_each_skill_is_a_prompt(http: httpx2.Client, create: Create, forms: Skill) -> None:
    create("Review code", expected_outcome="a verdict", prerequisites=["a diff"])
    create("Review code", project_path="/w/shop", content="Do it")
    own = f"skill_review-code_{Skill.objects.exclude(project=None).get().project_id}"

    listed = prompts_of_skills(http)
    shared = say(http, "skill_review-code")
    assert listed.keys() == {"skill_pdf-forms", "skill_review-code", own}
    assert listed["skill_review-code"]["description"] == "How to Review code"
    assert (listed["skill_review-code"]["title"], listed[own]["title"]) == (
        "Review code",
        "Review code (shop)",
    )
    assert shared["description"] == "How to Review code"
    assert all(part in text_of(shared) for part in ("a verdict", "a diff", "1. Begin"))
    assert "Do it" in text_of(say(http, own))
    assert f"{ROOT}/references/FIELDS.md" in text_of(say(http, "skill_pdf-forms"))
    assert Skill.objects.get(slug="pdf-forms").usage_count == 1


def test_what_is_typed_goes_to_its_place(http: httpx2.Client, create: Create) -> None:
    create(
        "one", content="Look at $file, ${depth} deep, for $5.", metadata={"arguments": "file depth"}
    )
    create("two", content="Look at it.", metadata={"arguments": "file"})
    create("three", content="Look at $file.", metadata={"arguments": "file focus"})
    create("four", content="Look at $file: $ARGUMENTS", metadata={"arguments": "file focus"})

    arguments = prompts_of_skills(http)["skill_one"]["arguments"]
    assert [argument["name"] for argument in arguments] == ["file", "depth"]
    assert "Look at a.py,  deep, for $5." in text_of(say(http, "skill_one", file="a.py"))
    assert "Look at it.\n\nArguments:\n- file: a.py" in text_of(say(http, "skill_two", file="a.py"))
    both = {"file": "a.py", "focus": "security"}
    three, four = (text_of(say(http, name, **both)) for name in ("skill_three", "skill_four"))
    assert three.endswith("Look at a.py.\n\nArguments:\n- focus: security")
    assert four.endswith("Look at a.py: a.py security")


@pytest.mark.parametrize(
    ("content", "hint", "typed", "said"),
    [
        ("Fix $ARGUMENTS now.", None, "12 main", "Fix 12 main now."),
        ("Fix ${ARGUMENTS} now.", None, "12", "Fix 12 now."),
        ("Fix $ARGUMENTS now.", None, None, "Fix  now."),
        ("From $ARGUMENTS[1] to $ARGUMENTS[0].", None, "'a b' c", "From c to a b."),
        ("From $ARGUMENTS[1] to $ARGUMENTS[0].", None, "it's", "From  to it's."),
        ("From $1 to $0.", "[to] [from]", "a b", "From b to a."),
        ("To $0.", "[to]", "a b", "To a.\n\nArguments:\n- arguments: a b"),
        (
            "It costs $0.50 or $7.",
            "[to]",
            "a",
            "It costs $0.50 or $7.\n\nArguments:\n- arguments: a",
        ),
    ],
)
def test_what_is_typed_is_split_into_words_where_the_content_asks_for_them(
    http: httpx2.Client,
    warm_model: None,
    tmp_path: Path,
    content: str,
    hint: str | None,
    typed: str | None,
    said: str,
) -> None:
    hinted = {"argument-hint": f"'{hint}'"} if hint else {}
    raw = document("one", **hinted).replace(b"Do it", content.encode())
    call_command("skills", "import", write(tmp_path / "one", {"SKILL.md": raw}), verbosity=0)

    (argument,) = prompts_of_skills(http)["skill_one"]["arguments"]
    assert (argument["name"], argument.get("description")) == ("arguments", hint)
    result = say(http, "skill_one", **({"arguments": typed} if typed else {}))
    assert text_of(result).endswith(f"\n\n{said}")


def test_arguments_are_filled_in_by_position_too(http: httpx2.Client, create: Create) -> None:
    create("one", content="$0, $ARGUMENTS[1]", metadata={"arguments": "file focus depth"})

    said = text_of(say(http, "skill_one", focus="speed", depth="2"))
    assert said.endswith("\n\n, speed\n\nArguments:\n- depth: 2")


def test_declared_arguments_of_a_skill_are_completed(http: httpx2.Client, create: Create) -> None:
    create("one", project_path="/w/shop", metadata={"arguments": "project_path"})
    (prompt,) = prompts_of_skills(http)

    def complete(argument: str) -> Any:
        ref = {"type": "ref/prompt", "name": prompt}
        typed = {"name": argument, "value": ""}
        return ask(http, "completion/complete", ref=ref, argument=typed)["completion"]["values"]

    assert complete("project_path") == ["/w/shop"]
    assert complete("path") == []


@pytest.mark.parametrize(
    ("prompt", "arguments", "message"),
    [
        ("skill_two", {}, "there is no prompt named 'skill_two'"),
        ("skill_one_7", {}, "there is no prompt named 'skill_one_7'"),
        ("skill_one_x", {}, "there is no prompt named 'skill_one_x'"),
        ("skill_one", {"path": "x"}, "unknown argument 'path'; this prompt takes: file"),
    ],
)
def test_a_prompt_that_cannot_be_had_says_why(
    http: httpx2.Client, create: Create, prompt: str, arguments: dict[str, str], message: str
) -> None:
    create("one", metadata={"arguments": "file"})

    error = say(http, prompt, **arguments)
    assert error["code"] == -32602
    assert message in error["message"]


@pytest.mark.parametrize(
    ("content", "names"),
    [("$0" * 25_000, 1), ("${a0}" * 5000, 1), ("$ARGUMENTS" * 5000, 50), ("Do it", 5)],
)
def test_arguments_that_would_make_a_huge_text_are_refused_before_it_is_written(
    http: httpx2.Client, create: Create, content: str, names: int
) -> None:
    every = [f"a{number}" for number in range(names)]
    create("one", content=content, metadata={"arguments": " ".join(every)})
    typed = dict.fromkeys(every, "x" * 50_000)

    tracemalloc.start()
    error = say(http, "skill_one", **typed)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "arguments make a text of " in error["message"]
    assert "at most 200,000 are allowed: shorten them" in error["message"]
    assert peak < 50_000_000


def test_a_list_of_arguments_may_come_through_the_tool(caller: Caller, create: Create) -> None:
    create("one", metadata={"arguments": ["pr", {"name": "base", "required": True}]})

    (offer,) = prompts.offers(caller)
    assert [(one.name, one.is_required) for one in offer.arguments] == [
        ("pr", False),
        ("base", True),
    ]


def test_arguments_without_a_name_do_not_break_the_list_of_prompts(
    caller: Caller, create: Create
) -> None:
    create("one", metadata={"arguments": [{"description": "the PR"}, {"name": None}, {"nme": "x"}]})

    assert [(one.name, one.arguments) for one in prompts.offers(caller)] == [("skill_one", ())]


@pytest.mark.parametrize(
    ("front_matter", "expected"),
    [
        ({"arguments": "issue, branch"}, [("issue", False), ("branch", False)]),
        ({"arguments": "[issue, 1st]"}, [("issue", False)]),
        ({"arguments": "[{name: issue, required: true}]"}, [("issue", True)]),
        ({"argument-hint": "'[issue]'"}, [("arguments", False)]),
        ({"arguments": "7"}, []),
        ({"arguments": "[true, null, issue, issue]"}, [("issue", False)]),
        ({"arguments": "'[[1'"}, []),
        ({}, []),
    ],
)
def test_arguments_are_those_that_its_front_matter_names(
    tmp_path: Path,
    warm_model: None,
    caller: Caller,
    front_matter: dict[str, str],
    expected: list[tuple[str, bool]],
) -> None:
    folder = write(tmp_path / "one", {"SKILL.md": document("one", **front_matter)})
    call_command("skills", "import", folder, verbosity=0)

    (offer,) = prompts.offers(caller)
    assert [(one.name, one.is_required) for one in offer.arguments] == expected
