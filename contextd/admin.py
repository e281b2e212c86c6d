"""The admin door: edits that are calls of operations, search by meaning, projects, sessions."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextareaWidget
from django.contrib.postgres.fields import ArrayField
from django.db import transaction
from django.db.models import CASCADE, Case, Count, F, Func, Model, QuerySet, When
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from pydantic_core import PydanticCustomError

from contextd import (
    auth,
    operations,
    pipeline,
    projects,
    redaction,
    search,
    sessions,
    shipped,
    validation,
)
from contextd.errors import ContextdError, Invalid
from contextd.models import DetachedCall, Project, ProjectPath, Session, ShippedRecord
from contextd.operations import Result

if TYPE_CHECKING:
    Mixin = admin.ModelAdmin[Any]
else:
    Mixin = object


class SearchByMeaning(Mixin):
    """For a ModelAdmin: the search box ranks by words and meaning; set `search_domain`."""

    search_domain: str
    search_fields = ["pk"]
    search_help_text = "Words or a whole sentence; results are ranked by words and meaning"
    max_found = 100

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term.strip():
            return queryset, False
        found = search.find(
            search_term,
            domain=self.search_domain,
            projects=None,
            records=queryset,
            limit=self.max_found,
        )
        ids = [hit.record_id for hit in found.hits]
        ranked = queryset.filter(pk__in=ids)
        if "o" not in request.GET:
            ranked = ranked.order_by(Case(*(When(pk=pk, then=rank) for rank, pk in enumerate(ids))))
        return ranked, False


class TagFilter(admin.SimpleListFilter):
    """By the tags that the records of the list have, those used most first."""

    title = "tag"
    parameter_name = "tag"
    most = 50

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tags = model_admin.model.objects.annotate(tag=Func(F("tags"), function="unnest"))
        counted = tags.values_list("tag").annotate(count=Count("pk")).order_by("-count", "tag")
        return [(tag, f"{tag} ({count})") for tag, count in counted[: self.most]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(tags__contains=[self.value()]) if self.value() else queryset


class OperationForm(forms.ModelForm[Any]):
    """Tells what the operation would refuse beside the field, so that nothing typed is lost."""

    operation: ClassVar[str]
    operation_fields: ClassVar[list[str]]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        arguments = {name: cleaned[name] for name in self.operation_fields if name in cleaned}
        if self.errors:
            return cleaned
        try:
            operations.get(self.operation).parse({"id": str(self.instance.pk), **arguments})
        except Invalid as error:
            for problem in error.details["problems"]:
                field = problem["field"].partition(".")[0]
                self.add_error(field if field in self.fields else None, problem["error"])
        return cleaned


class ByOperation(SearchByMeaning):
    """For a ModelAdmin: edits and deletions are calls of operations, limited and recorded like any.

    `update_operation` takes the record's id and `operation_fields`; `delete_operation` the id.
    Many at once are deleted in one step, which the admin's own history records.
    """

    form = OperationForm
    formfield_overrides = {
        ArrayField: {"delimiter": "\n", "widget": AdminTextareaWidget, "help_text": "One a line"}
    }
    update_operation: str
    operation_fields: list[str]
    delete_operation: str

    def get_form(self, *args: Any, **kwargs: Any) -> type[Any]:
        form: type[Any] = super().get_form(*args, **kwargs)
        form.operation, form.operation_fields = self.update_operation, self.operation_fields
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in self.operation_fields}
        saved: Any = self._call(request, self.update_operation, {"id": str(obj.pk), **fields})
        obj.refresh_from_db()  # history and message show what was stored, not what was typed
        if saved.redacted:
            messages.warning(request, f"{saved.redacted} credentials were replaced before saving")
        if saved.notice:
            messages.warning(request, saved.notice)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._call(request, self.delete_operation, {"id": str(obj.pk)})

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            search.forget(self.search_domain, list(queryset.values_list("pk", flat=True)))
            queryset.delete()

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Without the transaction that Django puts around it: the operation embeds first.
        return self._told(request, partial(self._changeform_view, request, *args, **kwargs))  # type: ignore[attr-defined]

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self._told(request, partial(super().delete_view, request, *args, **kwargs))

    def _told(self, request: HttpRequest, view: Callable[[], HttpResponse]) -> HttpResponse:
        try:
            return view()
        except ContextdError as error:
            messages.error(request, f"Not done: {error.message}")
            return HttpResponseRedirect(request.get_full_path())

    def _call(self, request: HttpRequest, name: str, arguments: dict[str, Any]) -> Result:
        return pipeline.call(name, arguments, auth.caller_of_admin(request))


class OriginFilter(admin.SimpleListFilter):
    title = "origin"
    parameter_name = "origin"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        origins = sorted({row.origin for row in model_admin.get_queryset(request)})
        return [(origin, origin) for origin in origins]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        return queryset.filter(pk__in=[row.pk for row in queryset if row.origin == self.value()])


class Shipped(SearchByMeaning):
    """For a ModelAdmin of a `ShippedRecord`: whose text it is, and how to take the newer one.

    `library` is where it ships; show `origin` in the list and `newer_text` on the page. What
    ships cannot be deleted, since the next start would bring it back.
    """

    library: shipped.Library
    actions = ["take_shipped_text"]

    @admin.display(description="origin")
    def origin(self, row: ShippedRecord) -> str:
        return row.origin

    @admin.display(description="what would change in a newer text that ships")
    def newer_text(self, row: ShippedRecord) -> str:
        return format_html("<pre>{}</pre>", shipped.difference(row)) if row.offered else "-"

    @admin.action(description="Take the newer text that ships", permissions=["change"])
    def take_shipped_text(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        taken = shipped.take_offered(self.library, queryset)
        messages.success(request, f"{len(taken)} now say what ships")

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
            search.forget(self.search_domain, list(queryset.values_list("pk", flat=True)))
            queryset.delete()


class ProjectForm(forms.ModelForm[Project]):
    def clean_name(self) -> str:
        return redaction.redact(self.cleaned_data["name"]).text

    def clean_git_remote(self) -> str | None:
        typed = self.cleaned_data["git_remote"]
        remote = projects.normalize_remote(typed) if typed else None
        if typed and remote is None:
            raise forms.ValidationError("Give it as host/path, such as github.com/acme/shop.")
        return remote


class ProjectPathForm(forms.ModelForm[ProjectPath]):
    def clean_path(self) -> str:
        try:
            return validation.clean_path(self.cleaned_data["path"])
        except PydanticCustomError as error:
            raise forms.ValidationError(f"It {error.message()}.") from None


class ProjectPathInline(admin.TabularInline[ProjectPath, Project]):
    model = ProjectPath
    form = ProjectPathForm
    extra = 0


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin[Project]):
    form = ProjectForm
    list_display = ["name", "git_remote", "created_at"]
    search_fields = ["name", "git_remote", "paths__path"]
    inlines = [ProjectPathInline]
    actions = ["merge_selected"]

    def get_deleted_objects(
        self, objs: Iterable[Project], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """How many of what people know: a project may hold many thousands of records."""
        deleted = list(objs)
        counts: dict[type[Model], int] = {}
        for relation in Project._meta.related_objects:
            model = relation.related_model
            if relation.on_delete is CASCADE and admin.site.is_registered(model):
                related = model._default_manager.filter(**{f"{relation.field.name}__in": deleted})
                counts[model] = related.count()
        told = {str(model._meta.verbose_name_plural): count for model, count in counts.items()}
        lacking = {
            str(model._meta.verbose_name)
            for model, count in counts.items()
            if count
            and not request.user.has_perm(
                f"{model._meta.app_label}.delete_{model._meta.model_name}"
            )
        }
        lines = [f"{count} {name}" for name, count in told.items()]
        return [*map(str, deleted), *lines], told, lacking, []

    @admin.action(description="Merge the selected projects into the oldest", permissions=["change"])
    def merge_selected(self, request: HttpRequest, queryset: QuerySet[Project]) -> None:
        kept, *others = queryset.order_by("created_at", "pk")
        for absorbed in others:
            projects.merge(kept, absorbed)
        messages.success(request, f"{len(others)} merged into {kept}")


@admin.register(DetachedCall)
class DetachedCallAdmin(admin.ModelAdmin[DetachedCall]):
    """Only to look at, and without what was said: that is for its caller alone."""

    list_display = ["operation", "principal", "context", "status", "created_at", "updated_at"]
    list_filter = ["status", "context", "operation"]
    search_fields = ["id", "principal", "operation"]
    fields = [
        "id", "operation", "principal", "context", "status", "redacted", "created_at",
        "updated_at", "leased_until", "expires_at",
    ]  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: DetachedCall | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: DetachedCall | None = None) -> bool:
        return False


@admin.register(Session)
class SessionAdmin(admin.ModelAdmin[Session]):
    """Only to look at and to end: to delete a session is to end it."""

    list_display = [
        "__str__",
        "principal",
        "context",
        "protocol_version",
        "created_at",
        "last_seen_at",
    ]
    list_filter = ["context", "protocol_version"]
    search_fields = ["id", "principal", "user__username", "client_name"]
    actions = ["end_selected"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Session | None = None) -> bool:
        return False

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        sessions.end([obj.pk])

    @admin.action(description="End the selected sessions", permissions=["delete"])
    def end_selected(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        ended = list(queryset.values_list("pk", flat=True))
        sessions.end(ended)
        messages.success(request, f"{len(ended)} ended: their clients have to connect again")
