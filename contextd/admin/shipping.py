"""Admin of records that ship with contextd, in addition to people's own."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from contextd import search, shipped
from contextd.admin.searching import SearchByMeaning
from contextd.models import ShippedRecord


class OriginFilter(admin.SimpleListFilter):
    title = "origin"
    parameter_name = "origin"
    conditions = {
        "shipped": Q(shipped__isnull=False),
        "offer": Q(offered__isnull=False),
        "own": Q(shipped__isnull=True),
        "retired": Q(is_retired=True),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("shipped", "Ships with contextd"),
            ("edited", "Shipped, edited here"),
            ("offer", "Edited here, newer text available"),
            ("own", "Written here"),
            ("retired", "No longer shipped"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        if chosen == "edited":  # no column records it, so rows are compared with the shipped texts
            ships = queryset.filter(shipped__isnull=False)
            return queryset.filter(pk__in=[row.pk for row in ships if row.is_edited])
        return queryset.filter(self.conditions[chosen]) if chosen in self.conditions else queryset


class Shipped(SearchByMeaning):
    """For a ModelAdmin of a `ShippedRecord`: show its origin, and adopt newer texts.

    `library` is its source; show `origin` in the list and `newer_text` on the page. Shipped
    records cannot be deleted, since the next start would restore them. Its form is a
    `FreshForm`.
    """

    library: shipped.Library
    actions = ["take_offered"]

    @admin.display(description="origin")
    def origin(self, row: ShippedRecord) -> str:
        return row.origin

    @admin.display(description="changes in the newer shipped text")
    def newer_text(self, row: ShippedRecord) -> str:
        return format_html("<pre>{}</pre>", shipped.difference(row)) if row.offered else "-"

    @admin.action(description="Adopt the newer shipped text", permissions=["change"])
    def take_offered(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        taken = shipped.take_offered(self.library, queryset)
        for row in taken:
            self.log_change(request, row, "adopted the newer shipped text")
        messages.success(request, f"{len(taken)} adopted the newer text")

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Lock a record that is about to be saved until the end of the request's transaction."""
        found: Any = super().get_object(request, *args, **kwargs)
        if found is None or request.method != "POST":
            return found
        return type(found)._default_manager.select_for_update().filter(pk=found.pk).first()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            shipped.index(self.library, [obj])

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        ships = obj is not None and obj.shipped is not None
        return not ships and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete_queryset(request, type(obj)._default_manager.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            own = queryset.filter(shipped__isnull=True)
            keys = dict(own.values_list("pk", "key"))
            search.forget(self.search_domain, list(keys))
            own.delete()
            self.library.announce(keys.values())
