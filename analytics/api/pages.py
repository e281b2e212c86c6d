"""Long lists: by cursor, and as CSV too."""

import csv
import io
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from rest_framework.pagination import CursorPagination
from rest_framework.renderers import BaseRenderer
from rest_framework.response import Response

from contextd import spreadsheets


class Pages(CursorPagination):
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 1000
    ordering = "-pk"

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
        return as_csv(rows).encode()


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    lines, out = list(rows), io.StringIO()
    writer = csv.writer(out)
    names = list(dict.fromkeys(name for row in lines for name in row))
    writer.writerow(names)
    cell_of = partial(spreadsheets.cell_of, default=str)
    writer.writerows([cell_of(row.get(name)) for name in names] for row in lines)
    return out.getvalue()
