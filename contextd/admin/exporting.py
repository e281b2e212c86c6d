"""Export lists as CSV and JSON, with the columns of each kind of record."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG
from django.db.models import Manager, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from import_export.admin import ExportMixin
from import_export.fields import Field
from import_export.resources import Resource
from unfold.contrib.import_export.forms import ExportForm

from contextd.admin.files import Csv, Json


class Rows(Resource):  # type: ignore[misc]  # the library has no types
    """Converts records of one kind to rows of a file."""

    columns: ClassVar[Sequence[str]]
    told_only: ClassVar[Sequence[str]] = ()
    """Columns that are exported, but ignored by imports."""
    prefetched: ClassVar[Sequence[str]] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.fields = {name: Field(name, name) for name in (*self.columns, *self.told_only)}

    @classmethod
    def get_display_name(cls) -> str:
        return cls.__name__

    def filter_export(self, queryset: QuerySet[Any], **options: Any) -> QuerySet[Any]:
        return queryset.prefetch_related(*self.prefetched)

    def cell(self, record: Any, name: str) -> Any:
        """Return the exported value: a plain value, list or object."""
        return plain(getattr(record, name))

    def export_field(self, field: Field, instance: Any, **options: Any) -> Any:
        return self.cell(instance, field.column_name)


def plain(value: Any) -> Any:
    """Return a plain value, with related records by name."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Manager):
        return [str(record) for record in value.all()]
    return str(value) if isinstance(value, Model) else value


class Exportable(ExportMixin):  # type: ignore[misc]  # the library has no types
    """For a ModelAdmin: export what the list shows, for users who may view it."""

    rows: ClassVar[type[Rows]]
    formats = [Csv, Json]
    export_form_class = ExportForm
    actions: Any = ["export_as_csv", "export_as_json"]

    def get_resource_classes(self, request: HttpRequest) -> list[type[Rows]]:
        return [self.rows]

    def has_export_permission(self, request: HttpRequest) -> bool:
        return bool(self.has_view_permission(request))

    def export_action(self, request: HttpRequest) -> HttpResponse:
        """Redirect an invalid filter to the list, which reports it."""
        try:
            response: HttpResponse = super().export_action(request)
        except IncorrectLookupParameters:
            return HttpResponseRedirect(f"../?{ERROR_FLAG}=1")
        return response

    @admin.action(description="Export as CSV", permissions=["view"])
    def export_as_csv(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self._as_file(Csv(), request, queryset)

    @admin.action(description="Export as JSON", permissions=["view"])
    def export_as_json(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self._as_file(Json(), request, queryset)

    def _as_file(
        self, form: Csv | Json, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse:
        response: HttpResponse = self._do_file_export(form, request, queryset)
        return response
