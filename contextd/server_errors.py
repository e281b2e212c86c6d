"""What pages and APIs answer where an exception reaches Django."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.html import format_html
from django.views.defaults import server_error

from contextd import outages

PAGE = "<!doctype html><html lang=en><title>Not now</title><h1>Not now</h1><p>{}</p></html>"


def answer(request: HttpRequest) -> HttpResponse:
    """Handle `handler500`: say that the database is away, and answer in JSON below `/api/`.

    No template is rendered: those show the user, who cannot be looked up without the database.
    """
    error = sys.exc_info()[1]
    if not isinstance(error, Exception):
        return server_error(request)
    if request.path.startswith("/api/"):
        public = outages.as_public_error(f"{request.method} {request.path}", error)
        return JsonResponse(public.as_dict(), status=public.status)
    outage = outages.as_outage(error)
    if outage is None:
        return server_error(request)
    return HttpResponse(format_html(PAGE, outage.message), status=outage.status)
