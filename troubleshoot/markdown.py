"""Patterns as Markdown, for clients that read a resource."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import indent
from typing import Any

from troubleshoot import placeholders
from troubleshoot.models import Pattern


def render(pattern: Pattern) -> str:
    """Render the full pattern, with the names of placeholders in capitals."""
    return "\n\n".join(placeholders.fill(part, {}) for part in _parts(pattern)) + "\n"


def _parts(pattern: Pattern) -> Iterator[str]:
    yield f"# {pattern.key}: {pattern.title}"
    yield f"{pattern.category}, severity {pattern.severity}; {', '.join(pattern.technologies)}"
    if pattern.versions:
        yield f"Only in: {', '.join(' '.join(one) for one in pattern.versions.items())}"
    yield f"**Cause:** {pattern.cause}"
    yield from _section("Errors", map(_verbatim, pattern.errors))
    yield from _section("Confirm", map(_check, pattern.confirm))
    fix = sorted(pattern.fix, key=lambda step: bool(step["destructive"]))
    yield from _section("Fix", map(_step, fix))
    yield from _section(
        "Not to be confused with",
        (f"pattern://{rival['id']}: {rival['tell']}" for rival in pattern.confused_with),
    )
    yield from _section("References", pattern.references)


def _section(title: str, parts: Iterable[str]) -> Iterator[str]:
    found = list(parts)
    if found:
        yield from (f"## {title}", *found)


def _check(check: Mapping[str, Any]) -> str:
    suffix = "" if check.get("conclusive", True) else " (this alone does not prove the cause)"
    return f"Expect: {check['expect']}{suffix}\n\n{_verbatim(check['run'])}"


def _step(step: Mapping[str, Any]) -> str:
    warning = "**Destructive, ask the person first.** " if step["destructive"] else ""
    code = f"\n\n{_verbatim(step['run'])}" if step.get("run") else ""
    return f"{warning}{step['do']}{code}"


def _verbatim(text: str) -> str:
    """Return the text as an indented code block, which may contain any character."""
    return indent(text.strip("\n"), "    ")
