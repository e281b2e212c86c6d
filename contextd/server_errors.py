"""Answers of pages and APIs when an exception reaches Django."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.defaults import page_not_found, server_error

from contextd import outages
from contextd.errors import NotFound


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle `handler404`: answer in JSON below `/api`; `OneErrorShape` does so in `/api/v1/`."""
    if f"{request.path}/".startswith("/api/") and not request.path.startswith("/api/v1/"):
        missing = NotFound("there is nothing at this address")
        return JsonResponse(missing.as_dict(), status=missing.status)
    return page_not_found(request, exception)


def answer(request: HttpRequest) -> HttpResponse:
    """Handle `handler500`: report an outage of the database, and answer in JSON below `/api/`.

    Templates are rendered without the request: those with it look up the user in the database.
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
    page = render_to_string("error.html", {"title": "Not now", "message": outage.message})
    return HttpResponse(page, status=outage.status)
