"""Django's protection of forms, by the gate's rule of which pages may send them."""

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware

from contextd import gate


class BehindTls(CsrfViewMiddleware):
    """TLS ends at a proxy, so that Django itself would take our own pages to be at `http`."""

    def _origin_verified(self, request: HttpRequest) -> bool:
        return gate.is_allowed_origin(request.headers["Origin"], request.get_host())
