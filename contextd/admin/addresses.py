"""Addresses of the admin that nothing can be at."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from contextd import validation


class Storable(MiddlewareMixin):
    """Middleware: refuse with 400 what a filter would pass to PostgreSQL, which cannot store it."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith(reverse("admin:index")):
            asked = [request.path, dict(request.GET.lists())]
            if problem := validation.unstorable(asked):
                raise BadRequest(f"The address {problem}")
