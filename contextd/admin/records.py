"""Projects, sessions of MCP clients, and their detached calls."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import CASCADE, Model, QuerySet
from django.http import HttpRequest
from pydantic_core import PydanticCustomError

from contextd import projects, redaction, sessions, validation
from contextd.admin.by_field import RowsByField, ensure_valid
from contextd.admin.exporting import Exportable, Rows
from contextd.admin.files import Row
from contextd.admin.rows import each
from contextd.admin.theme import ModelAdmin, NotEditable, ReadOnly, TabularInline
from contextd.admin.transfer import Transferable
from contextd.errors import Invalid
from contextd.models import DetachedCall, Project, ProjectPath, Session

REMOTE_FORM = "host/path, such as github.com/acme/shop"


class ProjectForm(forms.ModelForm[Project]):
    def clean_name(self) -> str:
        return redaction.redact(self.cleaned_data["name"]).text

    def clean_git_remote(self) -> str | None:
        typed = self.cleaned_data["git_remote"]
        remote = remote_of(typed) if typed else None
        if typed and remote is None:
            raise forms.ValidationError(f"Give it as {REMOTE_FORM}.")
        return remote


def remote_of(typed: str) -> str | None:
    """Normalize a remote, even `gitlab/acme/shop`, the form of a host without a domain."""
    return projects.normalize_remote(typed) or projects.normalize_remote(f"ssh://{typed}")


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


class ProjectRows(RowsByField):
    """Matches projects by remote or any path, and by name if they have neither."""

    model, key = Project, "name"
    columns = ["name", "git_remote", "paths"]
    lists, related = ["paths"], ["paths"]
    told_only = ["created_at"]
    prefetched = ["paths"]

    def value_of(self, name: str, cell: Any) -> Any:
        value = super().value_of(name, cell)
        match name:
            case "git_remote":
                return read_remote(value)
            case "paths":
                return each(read_path, value)
        return value

    def known(self, row: Row) -> Project | None:
        remote, paths = row.get("git_remote"), row.get("paths", [])
        if not (remote or paths):
            placeless = Project.objects.filter(git_remote=None, paths=None)
            return placeless.filter(name=row.get("name")).first()
        found = set(Project.objects.filter(git_remote=remote) if remote else ())
        found |= {one.project for one in ProjectPath.objects.filter(path__in=paths)}
        if len(found) > 1:
            names = ", ".join(sorted(map(str, found)))
            several = f"paths: paths and remote belong to several projects ({names})"
            raise Invalid(f"{several}; merge these", field="paths")
        return next(iter(found), None)

    def relate(self, record: Project, row: Row) -> None:
        if "paths" in row:
            record.paths.exclude(path__in=row["paths"]).delete()
            known = set(record.paths.values_list("path", flat=True))
            for path in {*row["paths"]} - known:
                alias = ProjectPath(project=record, path=path)
                ensure_valid(alias)
                alias.save()


def read_remote(value: Any) -> str | None:
    remote = remote_of(str(value)) if value else None
    if value and remote is None:
        raise Invalid(f"git_remote must be {REMOTE_FORM}", field="git_remote")
    return remote


def read_path(value: Any) -> str:
    try:
        return validation.clean_path(str(value))
    except PydanticCustomError as error:
        raise Invalid(f"paths: {value} {error.message()}", field="paths") from None


@admin.register(Project)
class ProjectAdmin(Transferable, ModelAdmin[Project]):
    group, icon = "Code", "folder"
    about = (
        "A project is identified by the paths of its folders, else by its git remote. Duplicates "
        "can be merged; deleting a project deletes all its records."
    )
    rows = ProjectRows
    form = ProjectForm
    list_display = ["name", "git_remote", "created_at"]
    search_fields = ["name", "git_remote", "paths__path"]
    inlines = [ProjectPathInline]
    actions = ["merge_selected", *Transferable.actions]

    def get_deleted_objects(
        self, objs: Iterable[Project], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Count records by kind, since a project may have many thousands."""
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
        chosen = list(queryset.order_by("created_at", "pk"))
        if len(chosen) < 2:
            messages.error(request, "Choose two projects or more: some may have been deleted")
            return
        kept, *others = chosen
        for absorbed in others:
            projects.merge(kept, absorbed)
            self.log_change(request, kept, f"merged with {absorbed}")
        messages.success(request, f"{len(others)} merged into {kept}")


class DetachedCallRows(Rows):
    """Exports calls without arguments and results, which the page hides too."""

    columns = [
        *("id", "operation", "principal", "context", "status", "redacted"),
        *("created_at", "updated_at", "expires_at"),
    ]


@admin.register(DetachedCall)
class DetachedCallAdmin(Exportable, ReadOnly, ModelAdmin[DetachedCall]):
    """Shows calls without arguments and results, which only the caller may see."""

    group, icon = "Activity", "pending"
    about = "Calls whose client does not wait for the answer, but fetches it later."
    rows = DetachedCallRows
    list_display = ["operation", "principal", "context", "status", "created_at", "updated_at"]
    list_filter = ["status", "context", "operation"]
    search_fields = ["id", "principal", "operation"]
    fields = [
        "id", "operation", "principal", "context", "status", "redacted", "created_at",
        "updated_at", "leased_until", "expires_at",
    ]  # fmt: skip


class SessionRows(Rows):
    """Exports sessions without their ids, which clients present to resume a session."""

    columns = [
        *("client_name", "client_version", "principal", "user", "context", "protocol_version"),
        *("client_capabilities", "created_at", "last_seen_at"),
    ]
    prefetched = ["user"]


@admin.register(Session)
class SessionAdmin(Exportable, NotEditable, ModelAdmin[Session]):
    """Deletes a session by ending it."""

    group, icon = "Activity", "cable"
    about = "Connected clients. A client whose session is ended has to connect again."
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
    search_fields = ["id__exact", "principal", "user__username", "client_name"]
    actions = ["end_selected", *Exportable.actions]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        sessions.end([obj.pk])

    @admin.action(description="End the selected sessions", permissions=["delete"])
    def end_selected(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        ended: Any = list(queryset)
        sessions.end([session.pk for session in ended])
        self.log_deletions(request, ended)
        messages.success(request, f"{len(ended)} ended: their clients must connect again")
