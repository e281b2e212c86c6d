"""Reject invalid addresses of the admin."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from contextd import validation


class Storable(MiddlewareMixin):
    """Middleware: answer 400 for text that PostgreSQL cannot store, before a filter uses it."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith(reverse("admin:index")):
            asked = [request.path, dict(request.GET.lists())]
            if problem := validation.unstorable(asked):
                raise BadRequest(f"The address {problem}")
