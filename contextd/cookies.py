"""Cookies of browsers that use TLS."""

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin


class SecureCookies(MiddlewareMixin):
    """Marks cookies as secure where TLS ends at a proxy, so that they are never sent without TLS.

    Whoever makes up the headers changes the cookies of only the own browser.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        proto = request.headers.get("X-Forwarded-Proto", "")
        origin = request.headers.get("Origin", "")
        if proto.lower() == "https" or origin.lower().startswith("https://"):
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response
