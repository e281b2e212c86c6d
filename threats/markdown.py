"""Threats as Markdown, for people and for clients that read a resource."""

from collections.abc import Iterable, Iterator

from threats.schema import CodeExample, Mitigation, ThreatPattern


def render(pattern: ThreatPattern) -> str:
    """Render the full description of the threat."""
    return "\n".join(_lines(pattern)).strip() + "\n"


def _lines(pattern: ThreatPattern) -> Iterator[str]:
    summary = pattern.agent_summary
    yield f"# {pattern.id}: {pattern.name}"
    yield f"\n{pattern.category}, {pattern.subcategory}; severity {pattern.severity}, "
    yield f"likelihood {pattern.likelihood}.\n"
    yield f"- **Threat:** {summary.threat}"
    yield f"- **Check:** {summary.check}"
    yield f"- **Fix:** {summary.fix}"
    yield f"\n{pattern.description}"
    yield from _scenario(pattern)
    for mitigation in pattern.mitigations:
        yield from _mitigation(mitigation)
    yield from _section(
        "Principles", (f"**{p.principle}.** {p.explanation}" for p in pattern.security_principles)
    )
    testing = pattern.testing
    yield from _section("Verify", (step.check for step in testing.manual_verification))
    yield from _section(
        "Search for",
        (
            f"{c.description}: `{c.pattern}` ({c.expectation})"
            for c in testing.automated_checks
            if c.side == "added"
        ),
    )
    yield from _section(
        "Must not be removed",
        (
            f"{c.description}: `{c.pattern}` ({c.expectation})"
            for c in testing.automated_checks
            if c.side == "removed"
        ),
    )
    yield from _section(
        "Related", (f"{r.id} ({r.relationship}): {r.description}" for r in pattern.related_patterns)
    )
    references = pattern.provenance.public_references
    yield from _section("References", (f"{r.cwe or r.owasp} {r.name}: {r.url}" for r in references))


def _scenario(pattern: ThreatPattern) -> Iterator[str]:
    if scenario := pattern.attack_scenario:
        yield f"\n## How it is attacked\n\n{scenario.narrative}"
        yield from _section("Needs", scenario.preconditions)
        steps = (f"{s.step}. {s.action}: {s.detail}" for s in scenario.attack_steps)
        yield from ("", *steps)


def _mitigation(mitigation: Mitigation) -> Iterator[str]:
    yield f"\n## {mitigation.name} ({mitigation.id})"
    yield f"\nEffectiveness {mitigation.effectiveness}, effort {mitigation.implementation_effort}."
    yield f"\n{mitigation.description}"
    yield from ("", *(f"- But: {tradeoff}" for tradeoff in mitigation.tradeoffs))
    for example in mitigation.code_examples:
        yield from _example(example)


def _example(example: CodeExample) -> Iterator[str]:
    where = example.language if example.framework == "any" else example.framework
    yield f"\n{example.description} ({where})"
    for title, code in (
        ("Vulnerable", example.vulnerable_code),
        ("Secure", example.secure_code),
    ):
        yield f"\n{title}:\n\n```{example.language}\n{code.rstrip()}\n```"


def _section(title: str, points: Iterable[str]) -> Iterator[str]:
    listed = [f"- {point}" for point in points]
    if listed:
        yield from (f"\n## {title}\n", *listed)
