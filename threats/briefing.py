"""Summarise threats for an assistant within a few hundred tokens."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from contextd.search.embedding import tokenizer
from threats.schema import CodeExample, ThreatPattern

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

    The code is the first that leaves room for a second pattern. `notice` is part of the
    answer, so it needs room too.
    """
    briefs = [_brief(pattern) for pattern in patterns]
    room = MAX_TOKENS - COUNTERS_TOKENS - (tokens_of({"notice": notice}) if notice else 0)
    code = None
    if patterns:
        examples = _examples(patterns[0], language, frameworks)
        codes = [CodePattern(e.language, e.framework, e.secure_code.strip()) for e in examples]
        code = _first_within(room, briefs[:2], codes) or _first_within(room, briefs[:1], codes)
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
    return next((code for code in codes if _briefing(briefs, code).token_count <= room), None)


def _briefing(briefs: list[Brief], code: CodePattern | None) -> Briefing:
    """Count by parts, since no token spans the punctuation between them."""
    parts = [*(asdict(one) for one in briefs), code and asdict(code)]
    around = tokens_of({"patterns": [], "code_pattern": ""}) - 2 + max(0, len(briefs) - 1)
    return Briefing(briefs, code, around + sum(map(tokens_of, parts)))


@lru_cache(maxsize=1000)
def _tokens(text: str) -> int:
    return tokenizer.count(text)


def _examples(
    pattern: ThreatPattern, language: str | None, frameworks: Sequence[str]
) -> list[CodeExample]:
    """Return examples in the language, by order of framework, then by effectiveness."""

    def rank(pair: tuple[str, CodeExample]) -> tuple[int, int]:
        effectiveness, example = pair
        known = example.framework in frameworks
        place = frameworks.index(example.framework) if known else len(frameworks)
        return place, _EFFECTIVENESS.index(effectiveness)

    examples = [
        (mitigation.effectiveness, example)
        for mitigation in pattern.mitigations
        for example in mitigation.code_examples
        if language in (None, example.language)
    ]
    return [example for _, example in sorted(examples, key=rank)]
