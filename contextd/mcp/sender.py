"""Who sends a request over HTTP."""

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from contextd.callers import Principal


class Sender(AuthenticatedUser):
    """The user of a request, in the form in which the SDK looks for one."""

    def __init__(self, principal: Principal, context: str) -> None:
        super().__init__(
            AccessToken(token="", client_id=principal.name, scopes=[], subject=context)
        )
        self.principal = principal
        self.context = context
