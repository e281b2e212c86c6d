"""Django's CSRF protection, with the gate's rule of which pages may send forms."""

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware

from contextd import gate


class BehindTls(CsrfViewMiddleware):
    """Accepts our own pages behind a TLS proxy, where Django would expect them at `http`."""

    def _origin_verified(self, request: HttpRequest) -> bool:
        return gate.is_allowed_origin(request.headers["Origin"], request.get_host())
