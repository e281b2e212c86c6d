"""CORS: browsers let pages of allowed origins read the answers of the doors for programs."""

from django.conf import settings
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from contextd import gate

PUBLIC_METADATA = "/.well-known/"


class Cors(CORSMiddleware):
    """In front of the gate, so that pages can read its refusals too. Cookies are never allowed."""

    def __init__(self, application: ASGIApp) -> None:
        super().__init__(
            application,
            allow_origins=settings.ALLOWED_ORIGINS,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],  # upstreams too receive headers of callers
            expose_headers=["Mcp-Session-Id", "WWW-Authenticate", "Retry-After"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_meant = scope["type"] == "http" and is_readable_by_pages(scope["path"])
        await (super().__call__ if is_meant else self.app)(scope, receive, send)


def is_readable_by_pages(path: str) -> bool:
    return gate.is_for_programs(path) or path.startswith(PUBLIC_METADATA)
