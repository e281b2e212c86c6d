"""The contract of `tmkb_query`: its parameters, error messages and results."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from contextd.errors import Refused
from contextd.operations import Request, Result
from contextd.validation import Filled
from threats import briefing, services
from threats.briefing import Briefing
from threats.schema import SUPPORTED_FRAMEWORKS, SUPPORTED_LANGUAGES, Language, SupportedFramework

MAX_THREATS = {"agent": 5, "human": 3}
MAX_CONTEXT = 10_000
SHOWN_INPUT = 100
VERBOSITIES = ("agent", "human")


class QueryThreats(Request):
    """Find what can go wrong with what you are about to build, and how to prevent it: ask before
    you write code that handles users, their data, files, tokens, jobs or other systems."""

    context: Annotated[
        Filled,
        Field(
            min_length=1,
            max_length=MAX_CONTEXT,
            description="What you are implementing, such as 'webhook handler for payments' or "
            "'background job that exports a project'",
        ),
    ]
    language: Annotated[
        Language | SkipJsonSchema[None], Field(description="Programming language")
    ] = None
    framework: Annotated[
        SupportedFramework | SkipJsonSchema[None],
        Field(description="Framework, or any; its code is preferred"),
    ] = None
    verbosity: Annotated[
        Literal["agent", "human"],
        Field(description="agent: brief, at most 500 tokens; human: full descriptions"),
    ] = "agent"

    @classmethod
    def refusal(cls, error: ValidationError, operation: str) -> Refused:
        """Return the error with the wording this tool's clients expect, without a category."""
        sentences = {  # each alternative of an optional choice reports an error
            sentence_for(problem): str(problem["loc"][0]) if problem["loc"] else "arguments"
            for problem in error.errors(include_url=False)
        }
        problems = [{"field": field, "error": sentence} for sentence, field in sentences.items()]
        return Refused("; ".join(sentences), **problems[0], problems=problems)


def sentence_for(problem: ErrorDetails) -> str:
    field = str(problem["loc"][0]) if problem["loc"] else "arguments"
    value = str(problem["input"])[:SHOWN_INPUT]
    supported = {
        "language": ("languages", SUPPORTED_LANGUAGES),
        "framework": ("frameworks", SUPPORTED_FRAMEWORKS),
        "verbosity": ("values", VERBOSITIES),
    }
    if problem["type"] == "extra_forbidden":
        known = ", ".join(QueryThreats.model_fields)
        return f"Unknown parameter {field[:SHOWN_INPUT]!r}. Supported parameters: {known}"
    if field in supported:
        what, values = supported[field]
        return f"Invalid {field} '{value}'. Supported {what}: {', '.join(values)}"
    return {
        "missing": "context parameter is required",
        "blank": "context must be non-empty",
        "too_short": "context must be non-empty",
        "too_long": f"context has {len(str(problem['input']))} characters, at most "
        f"{MAX_CONTEXT} are read",
        "string_type": "context must be a string",
    }.get(problem["type"], f"{field} {problem['msg']}")


class ThreatBrief(Result):
    id: str
    severity: str
    threat: str
    check: str
    fix: str


class CodePattern(Result):
    language: str
    framework: str
    secure_template: str


def is_none(value: object) -> bool:
    return value is None


class ThreatAnswer(Result):
    pattern_count: Annotated[int, Field(description="Number of relevant threats")]
    patterns_included: Annotated[int, Field(description="Number of threats included")]
    token_count: Annotated[
        int,
        Field(
            description="Tokens of the patterns and the code as JSON, by the tokenizer of "
            "all-MiniLM-L6-v2 (WordPiece); other models' tokenizers count a little differently"
        ),
    ]
    token_limit_reached: Annotated[bool, Field(description="More did not fit into 500 tokens")]
    patterns: Annotated[
        list[ThreatBrief] | None, Field(exclude_if=is_none, description="The most relevant first")
    ] = None
    code_pattern: Annotated[
        CodePattern | None,
        Field(exclude_if=is_none, description="Secure code for the most relevant"),
    ] = None
    verbose_patterns: Annotated[
        list[dict[str, Any]] | None,
        Field(
            exclude_if=is_none,
            description="Instead of patterns: full descriptions, as from threat_get",
        ),
    ] = None
    notice: Annotated[
        str | None, Field(exclude_if=is_none, description="Notice about this answer, if any")
    ] = None

    @classmethod
    def brief(cls, matches: services.Matches, briefing: Briefing) -> Self:
        return cls(
            pattern_count=len(matches.matches),
            patterns_included=len(briefing.patterns),
            token_count=briefing.token_count,
            token_limit_reached=len(briefing.patterns) < len(matches.matches),
            patterns=[ThreatBrief.model_validate(one) for one in briefing.patterns],
            code_pattern=briefing.code_pattern
            and CodePattern.model_validate(briefing.code_pattern),
            notice=matches.notice,
        )

    @classmethod
    def whole(cls, matches: services.Matches) -> Self:
        patterns = [pattern.model_dump(mode="json") for pattern in matches.patterns]
        return cls(
            pattern_count=len(patterns),
            patterns_included=len(patterns),
            token_count=briefing.tokens_of(patterns),
            token_limit_reached=False,
            verbose_patterns=patterns,
            notice=matches.notice,
        )
