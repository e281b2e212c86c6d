"""Serve patterns by address."""

from contextd.callers import Caller
from contextd.completions import completer
from contextd.resources import Listed, Query, resource
from troubleshoot import library, markdown, services


def best(caller: Caller, *, offset: int, limit: int) -> list[Listed]:
    return [
        Listed(
            uri=library.address_of(pattern.key),
            title=pattern.title,
            description=f"{pattern.category}, {pattern.severity}",
        )
        for pattern in services.ranked(caller)[offset : offset + limit]
    ]


@resource(
    "pattern://{pattern_id}",
    title="Known cause of errors",
    mime_type="text/markdown",
    listed=best,
)
def pattern(caller: Caller, query: Query, pattern_id: str) -> str:
    """Read one known cause in full: its errors, checks, fix, and what it is confused with."""
    return markdown.render(services.get_pattern(caller, pattern_id))


@completer("pattern_id")
def complete_id(caller: Caller, typed: str) -> list[str]:
    return services.ids_with(caller, typed)
