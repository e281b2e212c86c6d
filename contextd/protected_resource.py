"""Where clients without a token can get one: the metadata of RFC 9728."""

from urllib.parse import urljoin

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse

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


def challenge() -> str:
    """Return the `WWW-Authenticate` header of a 401."""
    if not settings.CONTEXTD_OAUTH_ISSUER:
        return "Bearer"
    address = urljoin(str(settings.CONTEXTD_OAUTH_AUDIENCE), MCP_METADATA)
    return f'Bearer resource_metadata="{address}"'
