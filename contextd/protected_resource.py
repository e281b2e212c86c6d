"""Where clients without a token can get one: the metadata of RFC 9728."""

from urllib.parse import urljoin

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse

from contextd.errors import ContextdError, RateLimited

MCP_METADATA = "/.well-known/oauth-protected-resource/mcp"


def metadata(request: HttpRequest) -> JsonResponse:
    if not settings.CONTEXTD_OAUTH_ISSUER:
        raise Http404
    return JsonResponse(
        {
            "resource": settings.CONTEXTD_OAUTH_AUDIENCE,
            "resource_name": "contextd",
            "authorization_servers": [settings.CONTEXTD_OAUTH_ISSUER],
            "bearer_methods_supported": ["header"],
        }
    )


def headers_of(error: ContextdError) -> dict[str, str]:
    """Return the HTTP headers of the error: when to retry, how to authenticate."""
    headers = {"Retry-After": str(error.seconds_to_wait)} if isinstance(error, RateLimited) else {}
    return headers | ({"WWW-Authenticate": challenge()} if error.status == 401 else {})


def challenge() -> str:
    """Return the `WWW-Authenticate` header of a 401."""
    if not settings.CONTEXTD_OAUTH_ISSUER:
        return "Bearer"
    address = urljoin(str(settings.CONTEXTD_OAUTH_AUDIENCE), MCP_METADATA)
    return f'Bearer resource_metadata="{address}"'
