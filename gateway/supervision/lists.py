"""The lists of an upstream: how they are requested, and what announces their changes."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp.types import (
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)

from gateway.models import Kind

LIST_METHODS = {
    Kind.TOOL: ("tools/list", "tools"),
    Kind.PROMPT: ("prompts/list", "prompts"),
    Kind.RESOURCE: ("resources/list", "resources"),
    Kind.TEMPLATE: ("resources/templates/list", "resourceTemplates"),
}
OF_RESOURCES = frozenset({Kind.RESOURCE, Kind.TEMPLATE})
CHANGED: dict[type, frozenset[Kind]] = {
    ToolListChangedNotification: frozenset({Kind.TOOL}),
    ToolsListChanged: frozenset({Kind.TOOL}),
    PromptListChangedNotification: frozenset({Kind.PROMPT}),
    PromptsListChanged: frozenset({Kind.PROMPT}),
    ResourceListChangedNotification: OF_RESOURCES,
    ResourcesListChanged: OF_RESOURCES,
}
"""The lists that a notification of each type announces to be changed."""
MAX_PAGES = 50
MAX_READ = 2000

Request = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


async def read(request: Request, kind: Kind) -> list[Any]:
    """Return all pages of the list, up to a limit, unchecked."""
    method, key = LIST_METHODS[kind]
    found: list[Any] = []
    cursor: Any = None
    seen: set[str] = set()
    while len(seen) < MAX_PAGES and len(found) < MAX_READ:
        page = await request(method, {"cursor": cursor} if cursor else {})
        listed = page.get(key)
        found += listed if isinstance(listed, list) else []
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in seen:
            break
        seen.add(cursor)
    return found
