"""Reject invalid addresses of the admin, and report what a context does not permit there."""

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from contextd import validation
from contextd.errors import NotAllowed, NotFound


class Storable(MiddlewareMixin):
    """Middleware: answer 400 for text that PostgreSQL cannot store, before a filter uses it."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith(reverse("admin:index")):
            asked = [request.path, dict(request.GET.lists())]
            if problem := validation.unstorable(asked):
                raise BadRequest(f"The address {problem}")


class Permitted(MiddlewareMixin):
    """Middleware: what the selected context does not permit is a message, not a server error."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        index = reverse("admin:index")
        if not isinstance(error, NotAllowed | NotFound) or not request.path.startswith(index):
            return None
        messages.error(request, f"Not done: {error.message}. Select a context on the dashboard.")
        return redirect(index)
