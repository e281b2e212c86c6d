"""`tmkb_query` keeps a published contract: its arguments, its sentences, its answer."""

import json
from pathlib import Path
from typing import Any

import httpx2
import mcp.types as protocol
import pytest

from contextd import operations
from contextd.errors import Refused
from contextd.search.embedding import tokenizer
from tests.clients import VERSIONS, over_http, over_stdio, text_of
from tests.conftest import Call
from tests.server import Server
from threats import briefing, knowledge, services
from threats.models import Threat
from threats.schema import LANGUAGE_OF, ThreatPattern
from threats.services import Match, Matches
from threats.tmkb import ThreatAnswer

LANGUAGES = "python, javascript, yaml"
FRAMEWORKS = "celery, django, drf, express, fastapi, flask, any"
PARAMETERS = "context, language, framework, verbosity"
KNOWN_LANGUAGES = f"Supported languages: {LANGUAGES}"
KNOWN_FRAMEWORKS = f"Supported frameworks: {FRAMEWORKS}"
KNOWN_PARAMETERS = f"Supported parameters: {PARAMETERS}"
X = {"context": "x"}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "context parameter is required"),
    ({"context": ""}, "context must be non-empty"),
    ({"context": " \n\t"}, "context must be non-empty"),
    ({"context": 7}, "context must be a string"),
    ({"context": None}, "context must be a string"),
    ({"context": "x" * 10_001}, "context has 10001 characters, at most 10000 are read"),
    ({"context": "a\0b"}, "context must not contain a NUL character"),
    ({**X, "language": "java"}, f"Invalid language 'java'. {KNOWN_LANGUAGES}"),
    ({**X, "language": "Python"}, f"Invalid language 'Python'. {KNOWN_LANGUAGES}"),
    ({**X, "language": 7}, f"Invalid language '7'. {KNOWN_LANGUAGES}"),
    ({**X, "framework": "rails"}, f"Invalid framework 'rails'. {KNOWN_FRAMEWORKS}"),
    ({**X, "verbosity": "loud"}, "Invalid verbosity 'loud'. Supported values: agent, human"),
    ({**X, "limit": 3}, f"Unknown parameter 'limit'. {KNOWN_PARAMETERS}"),
    (
        {"language": "java", "limit": 3},
        "context parameter is required; "
        f"Invalid language 'java'. {KNOWN_LANGUAGES}; "
        f"Unknown parameter 'limit'. {KNOWN_PARAMETERS}",
    ),
]


def matches(*patterns: ThreatPattern, notice: str | None = None) -> Matches:
    return Matches([Match(Threat(key=one.id), one, 1.0) for one in patterns], notice)


def ids(answer: Any) -> list[str]:
    return [brief.id for brief in answer.patterns]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_what_is_wrong_is_said_in_the_sentences_of_the_contract(
    arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Refused) as raised:
        operations.get("tmkb_query").parse(arguments)

    assert raised.value.text == sentence


def test_the_first_threat_comes_with_code(call: Call, few: Path) -> None:
    answer = call("tmkb_query", context="background jobs", language="python")

    assert ids(answer)[0] == "TMKB-AUTHZ-001"
    assert answer.patterns[0].severity == "high"
    assert "actor" in answer.patterns[0].fix
    assert (answer.code_pattern.language, answer.code_pattern.framework) == ("python", "celery")
    assert "visible_to(actor)" in answer.code_pattern.secure_template


@pytest.mark.parametrize("context", ["background jobs", "bulk delete", "password reset", "sql"])
def test_an_answer_stays_within_500_tokens(call: Call, few: Path, context: str) -> None:
    answer = call("tmkb_query", context=context)
    text = answer.model_dump_json()
    told = answer.model_dump_json(include={"patterns", "code_pattern"})

    assert len(tokenizer.spans(text)) <= 500
    assert answer.token_count == len(tokenizer.spans(told))
    assert answer.patterns_included == len(answer.patterns) >= 1
    assert answer.token_limit_reached == (answer.patterns_included < answer.pattern_count)


@pytest.mark.parametrize("notice", [None, "Passages that are not embedded yet: 7."])
def test_whatever_is_told_stays_within_500_tokens(notice: str | None) -> None:
    """Each threat first, with four others after it."""
    patterns = [file.pattern for file in knowledge.read(knowledge.FOLDER)[0]]
    for number in range(len(patterns)):
        found = matches(*(patterns * 2)[number : number + 5], notice=notice)
        answer = ThreatAnswer.brief(found, services.brief(found, None, None))

        assert len(tokenizer.spans(answer.model_dump_json())) <= 500, patterns[number].id


def test_counters_have_as_much_room_as_any_of_them_need() -> None:
    counters = [
        ThreatAnswer(
            pattern_count=5, patterns_included=2, token_count=count, token_limit_reached=True
        )
        for count in range(501)
    ]
    most = max(len(tokenizer.spans(one.model_dump_json())) for one in counters)

    assert most - len("{}") + len(",") == briefing.COUNTERS_TOKENS


def test_code_is_in_the_language_and_framework_that_were_asked_for(call: Call, few: Path) -> None:
    express = call("tmkb_query", context="background jobs", framework="express")
    flask = call("tmkb_query", context="background jobs", framework="flask")
    javascript = call("tmkb_query", context="background jobs", language="javascript")

    assert express.code_pattern.language == "javascript"
    assert flask.code_pattern.framework == "flask"
    assert javascript.code_pattern.language == "javascript"


@pytest.mark.parametrize("framework", LANGUAGE_OF)
def test_a_framework_tells_the_language(framework: str) -> None:
    for file in knowledge.read(knowledge.FOLDER)[0]:
        told = services.brief(matches(file.pattern), None, framework)

        assert told.code_pattern is None or told.code_pattern.language == LANGUAGE_OF[framework]


@pytest.mark.parametrize("framework", LANGUAGE_OF)
def test_code_for_the_framework_comes_whatever_else_is_told(framework: str) -> None:
    """Each threat first, with the next one after it."""
    patterns = [file.pattern for file in knowledge.read(knowledge.FOLDER)[0]]
    shown = {
        first.id: told.code_pattern and told.code_pattern.framework
        for first, second in zip(patterns, [*patterns[1:], patterns[0]], strict=True)
        if framework in {code.framework for one in first.mitigations for code in one.code_examples}
        for told in [services.brief(matches(first, second), None, framework)]
    }

    assert shown == dict.fromkeys(shown, framework)


def test_what_cannot_happen_in_the_language_is_not_told(call: Call, few: Path) -> None:
    Threat.objects.filter(key="TMKB-AUTHZ-001").update(languages=["python"])

    for given in ({"language": "javascript"}, {"framework": "express"}):
        assert "TMKB-AUTHZ-001" not in ids(call("tmkb_query", context="background jobs", **given))
    assert "TMKB-AUTHZ-001" in ids(call("tmkb_query", context="background jobs", framework="flask"))


def test_where_there_is_no_code_in_the_language_none_is_told(call: Call, few: Path) -> None:
    answer = call("tmkb_query", context="background jobs", language="yaml")

    assert ids(answer)[0] == "TMKB-AUTHZ-001"
    assert "code_pattern" not in answer.model_dump()


def test_any_framework_is_no_filter(call: Call, few: Path) -> None:
    assert call("tmkb_query", context="background jobs", framework="any") == call(
        "tmkb_query", context="background jobs"
    )


def test_for_people_all_is_told(call: Call, few: Path) -> None:
    answer = call("tmkb_query", context="background jobs", verbosity="human")
    told = answer.model_dump()

    assert answer.verbose_patterns[0]["id"] == "TMKB-AUTHZ-001"
    assert answer.verbose_patterns[0]["attack_scenario"]["attack_steps"]
    assert "vulnerable_code" in json.dumps(answer.verbose_patterns[0]["mitigations"])
    assert "test_code" not in json.dumps(answer.verbose_patterns)
    assert answer.pattern_count == answer.patterns_included == len(answer.verbose_patterns)
    assert "patterns" not in told


def test_drafts_and_retired_threats_are_not_told(call: Call, few: Path) -> None:
    Threat.objects.filter(key="TMKB-AUTHZ-001").update(is_published=False)
    Threat.objects.filter(key="TMKB-AUTHZ-003").update(is_retired=True)
    answer = call("tmkb_query", context="background jobs that delete softly")

    assert not {"TMKB-AUTHZ-001", "TMKB-AUTHZ-003"} & set(ids(answer))


def test_where_nothing_is_relevant_nothing_is_told(call: Call, few: Path) -> None:
    answer = call("tmkb_query", context="print hello world")

    assert (answer.pattern_count, answer.patterns) == (0, [])
    assert answer.code_pattern is None


@pytest.mark.anyio
@pytest.mark.parametrize("version", VERSIONS)
async def test_over_http_in_every_version(server: Server, few: Path, version: str) -> None:
    async with over_http(server, version) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        good = await session.call_tool("tmkb_query", {"context": "background jobs"})
        bad = await session.call_tool("tmkb_query", {"context": "x", "language": "java"})

    assert_keeps_contract(tools["tmkb_query"], good, bad)


@pytest.mark.anyio
async def test_over_stdio(environment: dict[str, str], few: Path) -> None:
    async with over_stdio(environment, "2025-11-25") as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        good = await session.call_tool("tmkb_query", {"context": "background jobs"})
        bad = await session.call_tool("tmkb_query", {"context": "x", "language": "java"})

    assert_keeps_contract(tools["tmkb_query"], good, bad)


def assert_keeps_contract(
    tool: protocol.Tool, good: protocol.CallToolResult, bad: protocol.CallToolResult
) -> None:
    schema, answer = tool.input_schema, json.loads(text_of(good))

    assert list(schema["properties"]) == PARAMETERS.split(", ")
    assert schema["required"] == ["context"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["context"]["minLength"] == 1
    assert schema["properties"]["language"]["enum"] == LANGUAGES.split(", ")
    assert schema["properties"]["framework"]["enum"] == FRAMEWORKS.split(", ")
    assert schema["properties"]["verbosity"]["default"] == "agent"
    assert not good.is_error
    assert answer["patterns"][0]["id"] == "TMKB-AUTHZ-001"
    assert list(answer["patterns"][0]) == ["id", "severity", "threat", "check", "fix"]
    assert list(answer["code_pattern"]) == ["language", "framework", "secure_template"]
    assert bad.is_error
    assert text_of(bad) == f"Invalid language 'java'. Supported languages: {LANGUAGES}"


def test_over_rest(http: httpx2.Client, few: Path) -> None:
    good = http.post("/api/v1/tmkb_query", json={"context": "background jobs"})
    bad = http.post("/api/v1/tmkb_query", json={"context": ""})

    assert good.json()["patterns"][0]["id"] == "TMKB-AUTHZ-001"
    assert (bad.status_code, bad.json()["message"]) == (400, "context must be non-empty")
