"""What an assistant is told about threats: as much as fits into a few hundred tokens."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from contextd.search.embedding import tokenizer
from threats.schema import CodeExample, ThreatPattern

MOST_TOKENS = 500
COUNTERS_TOKENS = 34
"""What the counters, and the names around them, add to an answer."""

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
    """`token_count` is that of the patterns and the code, as JSON."""

    patterns: list[Brief]
    code_pattern: CodePattern | None
    token_count: int


def brief(
    patterns: Sequence[ThreatPattern], language: str | None, frameworks: Sequence[str]
) -> Briefing:
    """The first pattern in any case, code against it, then as many others as there is room for."""
    told = [_brief(pattern) for pattern in patterns]
    briefing = _counted(told[:1], None)
    for example in _examples(patterns[0], language, frameworks) if patterns else ():
        code = CodePattern(example.language, example.framework, example.secure_code.strip())
        with_code = _counted(told[:1], code)
        if _fits(with_code):
            briefing = with_code
            break
    for more in told[1:]:
        longer = _counted([*briefing.patterns, more], briefing.code_pattern)
        if not _fits(longer):
            break
        briefing = longer
    return briefing


def _brief(pattern: ThreatPattern) -> Brief:
    summary = pattern.agent_summary
    return Brief(pattern.id, pattern.severity, summary.threat, summary.check, summary.fix)


def _counted(told: list[Brief], code: CodePattern | None) -> Briefing:
    answer = {"patterns": [asdict(one) for one in told], "code_pattern": code and asdict(code)}
    return Briefing(told, code, tokens_of(answer))


def tokens_of(answer: object) -> int:
    """Of its JSON, by the tokenizer of the embedding model."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return len(tokenizer.spans(text))


def _fits(briefing: Briefing) -> bool:
    return briefing.token_count + COUNTERS_TOKENS <= MOST_TOKENS


def _examples(
    pattern: ThreatPattern, language: str | None, frameworks: Sequence[str]
) -> list[CodeExample]:
    """Those in the language: of the first framework first, then those that protect best."""

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
