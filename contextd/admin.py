"""The admin door: edits that are calls of operations, search by meaning, projects, sessions."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Case, QuerySet, When
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from contextd import auth, pipeline, projects, search, sessions
from contextd.errors import ContextdError
from contextd.models import Project, ProjectPath, Session
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


class ByOperation(Mixin):
    """For a ModelAdmin: edits and deletions are calls of operations, limited and recorded like any.

    `update_operation` takes the record's id and `operation_fields`; `delete_operation` the id.
    """

    update_operation: str
    operation_fields: list[str]
    delete_operation: str

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in self.operation_fields}
        saved: Any = self._call(request, self.update_operation, {"id": str(obj.pk), **fields})
        if saved.redacted:
            messages.warning(request, f"{saved.redacted} credentials were replaced before saving")
        if saved.notice:
            messages.warning(request, saved.notice)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._call(request, self.delete_operation, {"id": str(obj.pk)})

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            # Without the transaction that Django puts around it: the operation embeds first.
            response: HttpResponse = self._changeform_view(  # type: ignore[attr-defined]
                request, object_id, form_url, extra_context
            )
        except ContextdError as error:
            messages.error(request, f"Not saved: {error.message}")
            return HttpResponseRedirect(request.get_full_path())
        return response

    def _call(self, request: HttpRequest, name: str, arguments: dict[str, Any]) -> Result:
        return pipeline.call(name, arguments, auth.caller_of_admin(request))


class ProjectPathInline(admin.TabularInline[ProjectPath, Project]):
    model = ProjectPath
    extra = 0


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin[Project]):
    list_display = ["name", "git_remote", "created_at"]
    search_fields = ["name", "git_remote", "paths__path"]
    inlines = [ProjectPathInline]
    actions = ["merge_selected"]

    @admin.action(description="Merge the selected projects into the oldest", permissions=["change"])
    def merge_selected(self, request: HttpRequest, queryset: QuerySet[Project]) -> None:
        kept, *others = queryset.order_by("created_at", "pk")
        for absorbed in others:
            projects.merge(kept, absorbed)
        messages.success(request, f"{len(others)} merged into {kept}")


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
