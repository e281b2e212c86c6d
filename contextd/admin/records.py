"""Projects, sessions of MCP clients, and the calls that those come back for."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import CASCADE, Model, QuerySet
from django.http import HttpRequest
from pydantic_core import PydanticCustomError

from contextd import projects, redaction, sessions, validation
from contextd.admin.exporting import Exportable, Rows
from contextd.admin.theme import LookedAt, ModelAdmin, ReadOnly, TabularInline
from contextd.models import DetachedCall, Project, ProjectPath, Session


class ProjectForm(forms.ModelForm[Project]):
    def clean_name(self) -> str:
        return redaction.redact(self.cleaned_data["name"]).text

    def clean_git_remote(self) -> str | None:
        typed = self.cleaned_data["git_remote"]
        # `gitlab/acme/shop`, which is what becomes of a host without a domain
        remote = typed and (
            projects.normalize_remote(typed) or projects.normalize_remote(f"ssh://{typed}")
        )
        if typed and remote is None:
            raise forms.ValidationError("Give it as host/path, such as github.com/acme/shop.")
        return remote or None


class ProjectPathForm(forms.ModelForm[ProjectPath]):
    def clean_path(self) -> str:
        try:
            return validation.clean_path(self.cleaned_data["path"])
        except PydanticCustomError as error:
            raise forms.ValidationError(f"It {error.message()}.") from None


class ProjectPathInline(TabularInline[ProjectPath, Project]):
    model = ProjectPath
    form = ProjectPathForm
    extra = 0


class ProjectRows(Rows):
    columns = ["name", "git_remote", "paths", "created_at"]
    prefetched = ["paths"]


@admin.register(Project)
class ProjectAdmin(Exportable, ModelAdmin[Project]):
    group, icon = "Code", "folder"
    about = (
        "A project is found by the paths of its folders, else by its git remote. Two that are the "
        "same can be merged; deleting one deletes all that belongs to it."
    )
    rows = ProjectRows
    form = ProjectForm
    list_display = ["name", "git_remote", "created_at"]
    search_fields = ["name", "git_remote", "paths__path"]
    inlines = [ProjectPathInline]
    actions = ["merge_selected", *Exportable.actions]

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
            self.log_change(request, kept, f"merged with {absorbed}")
        messages.success(request, f"{len(others)} merged into {kept}")


class DetachedCallRows(Rows):
    """Without what was said, as on the page."""

    columns = [
        *("id", "operation", "principal", "context", "status", "redacted"),
        *("created_at", "updated_at", "expires_at"),
    ]


@admin.register(DetachedCall)
class DetachedCallAdmin(Exportable, LookedAt, ModelAdmin[DetachedCall]):
    """Without what was said: that is for its caller alone."""

    group, icon = "Activity", "pending"
    about = "Calls whose client does not wait for the answer, but asks for it later."
    rows = DetachedCallRows
    list_display = ["operation", "principal", "context", "status", "created_at", "updated_at"]
    list_filter = ["status", "context", "operation"]
    search_fields = ["id", "principal", "operation"]
    fields = [
        "id", "operation", "principal", "context", "status", "redacted", "created_at",
        "updated_at", "leased_until", "expires_at",
    ]  # fmt: skip


class SessionRows(Rows):
    """Without their ids, which whoever goes on with a session has to show."""

    columns = [
        *("client_name", "client_version", "principal", "user", "context", "protocol_version"),
        *("client_capabilities", "created_at", "last_seen_at"),
    ]
    prefetched = ["user"]


@admin.register(Session)
class SessionAdmin(Exportable, ReadOnly, ModelAdmin[Session]):
    """To delete a session is to end it."""

    group, icon = "Activity", "cable"
    about = "Clients that are connected. One whose session is ended has to connect again."
    rows = SessionRows
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
    actions = ["end_selected", *Exportable.actions]

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
