"""Who is calling from a browser in which somebody has logged in."""

from dataclasses import replace

from django.http import HttpRequest

from contextd import auth
from contextd.callers import DEFAULT_CONTEXT, Caller

CONTEXT = "context"
"""In the session: which one its user looks from."""


def caller_of(request: HttpRequest) -> Caller:
    """In the context that a header asks for, else in the one that was chosen on the pages."""
    asked = request.headers.get("X-MCP-Context")
    caller = auth.caller_of_admin(request, asked or chosen_context(request))
    # What waits for review is for those who curate.
    return caller if request.user.is_staff else replace(caller, door="rest")


def chosen_context(request: HttpRequest) -> str:
    session = getattr(request, "session", {})  # templates are rendered without one too
    name: str = session.get(CONTEXT, DEFAULT_CONTEXT)
    return name
