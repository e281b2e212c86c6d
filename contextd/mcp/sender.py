"""The sender of an HTTP request."""

from functools import lru_cache

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from contextd.auth import Admission, RequestIdentity
from contextd.callers import Principal

MAX_CACHED_SENDERS = 1024


class Sender(AuthenticatedUser):
    """The user of a request, in the form that the SDK expects."""

    def __init__(self, identity: RequestIdentity, admission: Admission) -> None:
        self.request_identity, self.admission = identity, admission
        super().__init__(token_of(self.principal.name, self.context))

    @property
    def principal(self) -> Principal:
        return self.admission.principal

    @property
    def context(self) -> str:
        return self.admission.entry.name


@lru_cache(MAX_CACHED_SENDERS)
def token_of(principal: str, context: str) -> AccessToken:
    return AccessToken(token="", client_id=principal, scopes=[], subject=context)
