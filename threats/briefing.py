"""Summarise threats for an assistant within a few hundred tokens."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from contextd.search.embedding import tokenizer
from threats.schema import ThreatPattern

MAX_TOKENS = 500
COUNTERS_TOKENS = 35
"""Tokens that the counters and their field names add to an answer."""

_EFFECTIVENESS = ["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Brief:
    id: str
    severity: str
    threat: str
    check: str
    fix: str


@dataclass(frozen=True, slots=True)
class CodePattern:
    language: str
    framework: str
    secure_template: str


@dataclass(frozen=True, slots=True)
class Briefing:
    """A summary of threats; `token_count` covers the patterns and the code as JSON."""

    patterns: list[Brief]
    code_pattern: CodePattern | None
    token_count: int


def brief(
    patterns: Sequence[ThreatPattern],
    *,
    language: str | None,
    frameworks: Sequence[str],
    notice: str | None,
) -> Briefing:
    """Include the first pattern always, code against it, then as many others as fit.

    The code is for the first of the frameworks that has some that fits, if possible beside a
    second pattern. `notice` is part of the answer, so it needs room too.
    """
    briefs = [_brief(pattern) for pattern in patterns]
    room = MAX_TOKENS - COUNTERS_TOKENS - (tokens_of({"notice": notice}) if notice else 0)
    code = None
    if patterns:
        codes = _codes(patterns[0], language, frameworks)
        code = next((fits for few in codes if (fits := _first_within(room, briefs, few))), None)
    briefings = [_briefing(briefs[:number], code) for number in range(len(briefs) + 1)]
    return [one for one in briefings if len(one.patterns) <= 1 or one.token_count <= room][-1]


def tokens_of(answer: object) -> int:
    """Count the tokens of the JSON with the embedding model's tokenizer."""
    return _tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def _brief(pattern: ThreatPattern) -> Brief:
    summary = pattern.agent_summary
    return Brief(pattern.id, pattern.severity, summary.threat, summary.check, summary.fix)


def _first_within(
    room: int, briefs: list[Brief], codes: Sequence[CodePattern]
) -> CodePattern | None:
    """Return the first code that fits beside two patterns, or else beside one."""
    choices = ((number, code) for number in (2, 1) for code in codes)
    fitting = (
        code for number, code in choices if _briefing(briefs[:number], code).token_count <= room
    )
    return next(fitting, None)


def _briefing(briefs: list[Brief], code: CodePattern | None) -> Briefing:
    """Count by parts, since no token spans the punctuation between them."""
    parts = [*(asdict(one) for one in briefs), code and asdict(code)]
    around = tokens_of({"patterns": [], "code_pattern": ""}) - 2 + max(0, len(briefs) - 1)
    return Briefing(briefs, code, around + sum(map(tokens_of, parts)))


@lru_cache(maxsize=1000)
def _tokens(text: str) -> int:
    return tokenizer.count(text)


def _codes(
    pattern: ThreatPattern, language: str | None, frameworks: Sequence[str]
) -> Iterator[list[CodePattern]]:
    """Yield the code in the language for each framework, then that for others; best first."""
    mitigations = sorted(
        pattern.mitigations, key=lambda one: _EFFECTIVENESS.index(one.effectiveness)
    )
    examples = [
        example
        for mitigation in mitigations
        for example in mitigation.code_examples
        if language in (None, example.language)
    ]
    codes = [CodePattern(one.language, one.framework, one.secure_code.strip()) for one in examples]
    for framework in frameworks:
        yield [code for code in codes if code.framework == framework]
    yield [code for code in codes if code.framework not in frameworks]
