"""Long lists: paginated by cursor, also as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from contextd import spreadsheets
from contextd.errors import Invalid
from contextd.validation import parse_digits


class Pages(CursorPagination):
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 1000
    ordering = "-pk"
    # Rows that may share an ordering value; with more, the same page would repeat forever.
    offset_cutoff = 2**31

    def get_page_size(self, request: Request) -> int | None:
        """Return the size of a page. Raises Invalid if `limit` is not one."""
        limit = request.query_params.get("limit", "")
        if limit and not parse_digits(limit):
            raise Invalid("limit must be a whole number of at least 1", field="limit")
        return super().get_page_size(request)

    def get_ordering(self, *asked: Any) -> tuple[str, ...]:
        """Return a total order, so that each page begins where the previous one ended."""
        return (*super().get_ordering(*asked), "-pk")

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        """Return a page. Raises Invalid for a cursor that is invalid or of another order."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValidationError, ValueError):
            cursor = request.query_params.get(self.cursor_query_param)
            if cursor is None:
                raise
            raise Invalid(
                f"{cursor[:100]!r} is not a cursor of this list; start without one", field="cursor"
            ) from None

    def get_paginated_response(self, data: Any) -> Response:
        """Add the links as a header too, since a CSV file has no place for them."""
        response = super().get_paginated_response(data)
        links = {"next": self.get_next_link(), "prev": self.get_previous_link()}
        told = [f'<{link}>; rel="{name}"' for name, link in links.items() if link]
        if told:
            response["Link"] = ", ".join(told)
        return response


class CsvRenderer(BaseRenderer):
    """Renders one line per row; lists and objects as JSON."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        rows = data.get("results", [data]) if isinstance(data, Mapping) else data
        return as_csv(rows, columns_of(rows)).encode()


def columns_of(rows: Any) -> list[str]:
    """Return the serializer's fields, which are known even without rows."""
    serializer = getattr(rows, "serializer", None)
    if serializer is not None:
        return list(serializer.child.fields)
    return list(dict.fromkeys(name for row in rows for name in row))


def as_csv(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(names)
    cell_of = partial(spreadsheets.cell_of, default=str)
    writer.writerows([cell_of(row.get(name)) for name in names] for row in rows)
    return out.getvalue()
