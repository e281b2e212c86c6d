"""Serve threats by address."""

from contextd.callers import Caller
from contextd.completions import completer
from contextd.resources import Listed, Query, resource
from threats import markdown, services


def worst(caller: Caller, *, offset: int, limit: int) -> list[Listed]:
    return [
        Listed(
            uri=services.address_of(threat.key),
            title=threat.name,
            description=f"{threat.category}, {threat.severity}",
        )
        for threat in services.worst(caller)[offset : offset + limit]
    ]


@resource(
    "threat://{threat_id}",
    title="Threat",
    mime_type="text/markdown",
    listed=worst,
)
def threat(caller: Caller, query: Query, threat_id: str) -> str:
    """Read the full description of one threat: scenario, mitigations with code, tests."""
    return markdown.render(services.get(caller, threat_id))


@completer("threat_id")
def complete_id(caller: Caller, typed: str) -> list[str]:
    ids = [threat.key for threat in services.worst(caller)]
    return [key for key in ids if typed.upper() in key]
