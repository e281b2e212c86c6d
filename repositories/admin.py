from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from contextd import logins
from contextd.admin import (
    Exportable,
    ModelAdmin,
    NotEditable,
    ProjectFilter,
    ReadOnly,
    Rows,
    SearchByMeaning,
)
from contextd.errors import NotAllowed
from repositories import services
from repositories.models import Repository, SourceFile

# Only of the rows that are shown, unlike an aggregate of all files.
FILE_COUNT = Coalesce(
    Subquery(
        SourceFile.objects.filter(repository=OuterRef("pk"))
        .order_by()
        .values("repository")
        .annotate(number=Count("pk"))
        .values("number")
    ),
    0,
)


class RepositoryRows(Rows):
    columns = [
        *("path", "project", "include_patterns", "exclude_patterns", "max_file_size"),
        *("file_count", "report", "created_by", "created_at", "indexed_at"),
    ]


class SourceFileRows(Rows):
    """Exports facts about files, but not their text, which stays in its source."""

    columns = ["repository", "path", "language", "size", "symbols", "modified_at", "indexed_at"]


@admin.register(Repository)
class RepositoryAdmin(Exportable, NotEditable, ModelAdmin[Repository]):
    """Read-only, since only indexing writes repositories."""

    group, icon = "Code", "source"
    about = (
        "Searchable folders of code. Add one with the tool index_repository or with "
        "manage.py index_repo; index it again or remove it here."
    )
    rows = RepositoryRows
    list_display = ["path", "project", "files", "last_run", "unreadable", "pending", "indexed_at"]
    list_filter = [("project", ProjectFilter)]
    list_select_related = ["project"]
    search_fields = ["path", "project__name"]
    actions = ["index_selected", *Exportable.actions]
    fields = [
        *("path", "project", "include_patterns", "exclude_patterns", "max_file_size"),
        *("files", "last_run", "pending", "report"),
        *("host", "created_by", "created_at", "indexed_at"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Repository]:
        return super().get_queryset(request).annotate(file_count=FILE_COUNT)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Look up the states of the rows together."""
        shown: Any = super().get_changelist_instance(request)
        shown.result_list = list(shown.result_list)
        for state in services.states_of(shown.result_list):
            state.repository.state = state  # type: ignore[attr-defined]  # read by the columns
        return shown

    def get_object(self, *args: Any, **kwargs: Any) -> Repository | None:
        repository = super().get_object(*args, **kwargs)
        if repository:
            repository.state = services.state_of(repository)  # type: ignore[attr-defined]
        return repository

    @admin.display(ordering="file_count")
    def files(self, repository: Any) -> int:
        number: int = repository.file_count
        return number

    @admin.display(description="last run")
    def last_run(self, repository: Any) -> str:
        return services.progress(repository.state)

    @admin.display(description="errors")
    def unreadable(self, repository: Repository) -> int:
        number: int = repository.report.get("failed", 0)
        return number

    @admin.display(description="passages to embed, of its project")
    def pending(self, repository: Any) -> int:
        state: services.State = repository.state
        return state.coverage.pending

    @admin.action(description="Index the selected repositories again", permissions=["delete"])
    def index_selected(self, request: HttpRequest, queryset: QuerySet[Repository]) -> None:
        caller = logins.curator_of(request)
        try:
            started = [services.index_again(caller, repository) for repository in queryset]
        except NotAllowed as error:
            messages.error(request, error.message)
            return
        messages.success(
            request, f"{len(started)} are being indexed again; see the column Last run"
        )

    def get_deleted_objects(
        self, objs: Iterable[Repository], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Count the files instead of listing them, since there may be thousands."""
        removed = list(objs)
        files = SourceFile.objects.filter(repository__in=removed).count()
        counts = {"repositories": len(removed), "files": files}
        return [str(repository) for repository in removed], counts, set(), []

    def delete_model(self, request: HttpRequest, obj: Repository) -> None:
        services.forget(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Repository]) -> None:
        for repository in queryset:
            services.forget(repository)


@admin.register(SourceFile)
class SourceFileAdmin(Exportable, ReadOnly, SearchByMeaning, ModelAdmin[SourceFile]):
    group, icon = "Code", "draft"
    about = "Files as they are indexed. To remove one, exclude it in its repository."
    rows = SourceFileRows
    search_domain = services.DOMAIN
    list_display = ["path", "repository", "language", "size", "modified_at", "indexed_at"]
    list_filter = ["repository", "language"]
    list_select_related = ["repository"]
    fields = [
        *("repository", "path", "language", "size"),
        *("symbols", "text", "modified_at", "indexed_at"),
    ]

    @admin.display(description="indexed text")
    def text(self, file: SourceFile) -> str:
        return "\n…\n".join(services.texts_of(file))
