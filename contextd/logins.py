"""Identifies callers from a browser session."""

from django.http import HttpRequest

from contextd import auth
from contextd.callers import DEFAULT_CONTEXT, Caller

CONTEXT = "context"
"""Session key of the context that the user has selected."""


def caller_of(request: HttpRequest) -> Caller:
    """Return the caller in the context of the header, or else in the one selected on the pages."""
    asked = request.headers.get("X-MCP-Context")
    return auth.caller_of_login(request, asked or chosen_context(request), "rest")


def curator_of(request: HttpRequest) -> Caller:
    """Return the user of the admin, who acts in the context selected on the pages."""
    return auth.caller_of_login(request, chosen_context(request), "admin")


def chosen_context(request: HttpRequest) -> str:
    session = getattr(request, "session", {})  # templates may be rendered without a session
    name: str = session.get(CONTEXT, DEFAULT_CONTEXT)
    return name
