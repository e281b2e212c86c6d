"""The theme of the admin, with the description and the place of each page."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.postgres.fields import ArrayField
from django.db.models import Model
from django.db.models.constants import LOOKUP_SEP
from django.forms.utils import pretty_name
from django.http import HttpRequest, HttpResponse

from contextd import validation
from contextd.admin.widgets import Lines

M = TypeVar("M", bound=Model)

if TYPE_CHECKING:
    from django.contrib.admin import TabularInline

    class Themed: ...
else:
    from unfold.admin import ModelAdmin as Themed
    from unfold.admin import TabularInline as ThemedTable
    from unfold.templatetags import unfold_list

    computed_headers = unfold_list.result_headers

    def headers_once(changelist: Any) -> list[dict[str, Any]]:
        """Return a list's headers, which the theme would compute again for each row."""
        if not hasattr(changelist, "headers"):
            changelist.headers = list(computed_headers(changelist))
        return changelist.headers

    unfold_list.result_headers = headers_once

    class TabularInline(ThemedTable):
        """Labels each field, since column headings name them only visually."""

        def get_formset(self, *args: Any, **kwargs: Any) -> type[Any]:
            formset = super().get_formset(*args, **kwargs)
            for name, field in formset.form.base_fields.items():
                field.widget.attrs.setdefault("aria-label", field.label or pretty_name(name))
            return formset


__all__ = [
    "ONE_A_LINE",
    "ModelAdmin",
    "NotEditable",
    "ReadOnly",
    "ReadOnlyInline",
    "TabularInline",
]

ONE_A_LINE: Any = {ArrayField: {"delimiter": "\n", "widget": Lines, "help_text": "One a line"}}


class Saving(admin.ModelAdmin[M]):
    """Comes after the theme in the method resolution order of `changeform_view`."""

    is_atomic: ClassVar[bool] = True
    """False if saving embeds or calls out, which must not happen in a transaction."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        view = super().changeform_view if self.is_atomic else self._changeform_view  # type: ignore[attr-defined]
        response: HttpResponse = view(request, *args, **kwargs)
        return response


class ModelAdmin(Themed, Saving[M]):
    """Base of every ModelAdmin."""

    group: ClassVar[str] = "More"
    """The heading of the page in the sidebar, ordered by `navigation.GROUPS`."""
    icon: ClassVar[str] = "table_rows"
    """The name of a Material Symbols icon."""
    about: ClassVar[str] = ""
    """Text above the list and the form."""

    list_before_template = change_form_before_template = "admin/about.html"
    list_fullwidth = True
    list_filter_sheet = False
    list_per_page = 25  # drawing a row takes 2 ms
    show_full_result_count = False
    warn_unsaved_form = True

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> M | None:
        """Return None, for a 404, even for an id that PostgreSQL cannot store."""
        if validation.unstorable(object_id):
            return None
        return super().get_object(request, object_id, from_field)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Permit only the list's columns and filters: others would reveal what pages hide."""
        filters = map(name_of, self.get_list_filter(request))
        permitted = {*map(str, self.get_list_display(request)), *filters}
        is_permitted = lookup.partition(LOOKUP_SEP)[0] in permitted
        return is_permitted and super().lookup_allowed(lookup, value, request)

    def log_changes(self, request: HttpRequest, records: Iterable[M], told: str) -> None:
        """Add an action on several records to the history of each."""
        LogEntry.objects.log_actions(request.user.pk or 0, list(records), CHANGE, told)


def name_of(list_filter: Any) -> str:
    """Return the parameter or the field of an entry of `list_filter`."""
    match list_filter:
        case (str(field), _):
            return field
        case str(field):
            return field
    return str(list_filter.parameter_name)


class NotEditable:
    """For a ModelAdmin of records that people neither add nor change, but may delete."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(NotEditable):
    """For a ModelAdmin of records that people can only view."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline:
    """For an inline of records that people can only view."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
