"""What an upstream lists, looked at tool by tool: one bad tool never hides the others."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gateway import pinning
from gateway.models import NAME_LENGTH

MOST_TOOLS = 1000
LARGEST_DEFINITION = 256 * 1024


@dataclass(frozen=True, slots=True)
class Listed:
    """The tools that can be offered by name, and what is wrong with the others."""

    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def check(raw: Iterable[Any]) -> Listed:
    listed = Listed()
    for number, tool in enumerate(raw, start=1):
        name = tool.get("name") if isinstance(tool, dict) else None
        if problem := _problem_of(tool, listed.tools):
            listed.problems.append(f"tool {number} ({str(name)[:80]!r}) is left out: {problem}")
        else:
            listed.tools[tool["name"]] = pinning.pinned(tool)
    return listed


def _problem_of(tool: Any, known: dict[str, dict[str, Any]]) -> str | None:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return "it has no name"
    if not 0 < len(tool["name"]) <= NAME_LENGTH:
        return f"its name is empty or longer than {NAME_LENGTH} characters"
    if tool["name"] in known:
        return "another one has the same name"
    if len(known) >= MOST_TOOLS:
        return f"there are more than {MOST_TOOLS}"
    return _problem_of_parts(tool)


def _problem_of_parts(tool: dict[str, Any]) -> str | None:
    for key in ("title", "description"):
        if not isinstance(tool.get(key, ""), str | None):
            return f"its {key} is no text"
    for key in ("inputSchema", "outputSchema"):
        schema = tool.get(key, {"type": "object"} if key == "outputSchema" else None)
        if not isinstance(schema, dict) or schema.get("type") != "object":
            return f"its {key} is not the schema of an object"
    if not isinstance(tool.get("annotations", {}), dict | None):
        return "its annotations are no object"
    return _problem_of_text(tool)


def _problem_of_text(tool: dict[str, Any]) -> str | None:
    text = pinning.canonical_json(pinning.pinned(tool))
    if len(text) > LARGEST_DEFINITION:
        return f"its definition is larger than {LARGEST_DEFINITION} characters"
    if "\\u0000" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return "it holds characters that cannot be stored"
    return None
