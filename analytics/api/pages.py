"""Long lists: by cursor, and as CSV too."""

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


class Pages(CursorPagination):
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 1000
    ordering = "-pk"
    # So many rows may be alike in what they are ordered by; more would be shown again for ever.
    offset_cutoff = 2**31

    def get_ordering(self, *asked: Any) -> tuple[str, ...]:
        """To the last row, so that a page begins where the one before it has ended."""
        return (*super().get_ordering(*asked), "-pk")

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        """Raises Invalid for a cursor that was made up, or belongs to another order."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValidationError, ValueError):
            cursor = request.query_params.get(self.cursor_query_param)
            if cursor is None:
                raise
            raise Invalid(
                f"{cursor[:100]!r} is not a cursor of this list; begin without one", field="cursor"
            ) from None

    def get_paginated_response(self, data: Any) -> Response:
        """What comes next is told in the header too, where a CSV file has no place for it."""
        response = super().get_paginated_response(data)
        links = {"next": self.get_next_link(), "prev": self.get_previous_link()}
        told = [f'<{link}>; rel="{name}"' for name, link in links.items() if link]
        if told:
            response["Link"] = ", ".join(told)
        return response


class CsvRenderer(BaseRenderer):
    """One line a row; what is not a plain value is JSON."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        rows = data.get("results", [data]) if isinstance(data, Mapping) else data
        return as_csv(rows, columns_of(rows)).encode()


def columns_of(rows: Any) -> list[str]:
    """Those of its serializer, which are known where there is no row too."""
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
