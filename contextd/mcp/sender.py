"""Who sends a request over HTTP."""

from functools import lru_cache

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from contextd.auth import Admission, Arrival
from contextd.callers import Principal

MAX_CACHED_SENDERS = 1024


class Sender(AuthenticatedUser):
    """The user of a request, in the form in which the SDK looks for one."""

    def __init__(self, arrival: Arrival, admission: Admission) -> None:
        self.arrival, self.admission = arrival, admission
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
