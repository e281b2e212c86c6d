"""Checks of the query: what an address does not know is refused, not ignored."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework.filters import OrderingFilter
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from contextd.errors import Invalid


class Endpoint(APIView):
    """A view that refuses query arguments other than its own `arguments` and the format."""

    def arguments(self) -> Iterable[str]:
        return ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        known = sorted({*self.arguments(), str(api_settings.URL_FORMAT_OVERRIDE)})
        refuse_unknown("argument", request.query_params, known)


class Ordering(OrderingFilter):
    def remove_invalid_fields(
        self, queryset: QuerySet[Any], fields: Iterable[str], view: APIView, request: Request
    ) -> list[str]:
        """Raises Invalid for fields that the list cannot be ordered by."""
        ordered_by = list(fields)
        known = [name for name, _ in self.get_valid_fields(queryset, view, {"request": request})]
        refuse_unknown("ordering", [name.removeprefix("-") for name in ordered_by], known)
        return ordered_by


def refuse_unknown(what: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raises Invalid with all that is given and not known."""
    there_are = f"there are: {', '.join(known)}"
    problems = [
        {"field": name[:100], "error": f"unknown {what} {name[:100]!r}; {there_are}"}
        for name in given
        if name not in known
    ]
    if problems:
        message = "; ".join(problem["error"] for problem in problems)
        raise Invalid(message, **problems[0], problems=problems)
