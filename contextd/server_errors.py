"""Answers of pages and APIs when an exception reaches Django."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.html import format_html
from django.views.defaults import server_error

from contextd import outages

PAGE = "<!doctype html><html lang=en><title>Not now</title><h1>Not now</h1><p>{}</p></html>"


def answer(request: HttpRequest) -> HttpResponse:
    """Handle `handler500`: report an outage of the database, and answer in JSON below `/api/`.

    No template is rendered: templates show the user, whose look-up needs the database.
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
