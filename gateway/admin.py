from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.fields import ArrayField
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.html import format_html

from contextd.admin import (
    Exportable,
    ModelAdmin,
    ReadOnlyInline,
    Rows,
    RowsByField,
    TabularInline,
    Transferable,
    widgets,
)
from contextd.admin.files import Row
from contextd.errors import ContextdError
from gateway import offering, pinning, place, policy, services
from gateway.models import Upstream, UpstreamEvent, UpstreamFeature, UpstreamSetting


class SettingForm(forms.ModelForm[UpstreamSetting]):
    """Never sends a saved value back to the browser."""

    value = forms.CharField(
        required=False,
        widget=widgets.Password({"autocomplete": "new-password"}),
        help_text="Leave empty to keep the saved value",
    )

    class Meta:
        model = UpstreamSetting
        fields = ["name", "value"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("value") and not self.instance.pk:
            self.add_error("value", "Give a value.")
        if cleaned.get("value"):
            self.instance.value = cleaned["value"]  # before the model looks at it
        return cleaned


class SettingInline(TabularInline[UpstreamSetting, Upstream]):
    model = UpstreamSetting
    form = SettingForm
    extra = 0
    verbose_name_plural = "Environment variables (for http: headers); nothing else is passed on"


class FeatureInline(ReadOnlyInline, TabularInline[UpstreamFeature, Upstream]):
    model = UpstreamFeature
    fields = ["kind", "name", "wire_name", "standing"]
    readonly_fields = ["standing"]
    show_change_link = True

    @admin.display(description="state")
    def standing(self, feature: UpstreamFeature) -> str:
        return offering.status_text(feature)


class EventInline(ReadOnlyInline, TabularInline[UpstreamEvent, Upstream]):
    model = UpstreamEvent
    fields = ["at", "state", "reason"]
    readonly_fields = ["at"]


READ_ONLY_FIELDS = ["state", "reason", "next_retry_at", "state_since"]


class UpstreamRows(RowsByField):
    """Match upstreams by namespace; export only the names of settings and import none."""

    model, key = Upstream, "namespace"
    lists = ["command", "caller_headers", "allowed_tools", "denied_tools"]
    flags = ["is_enabled", "gives_plain_json", "redacts_arguments"]
    numbers = [
        *("request_timeout_ms", "discovery_timeout_ms", "startup_timeout_ms"),
        *("heartbeat_interval_ms", "stale_timeout_ms", "poll_interval_ms"),
        *("restart_attempts", "restart_backoff_ms"),
    ]
    columns = [
        *("namespace", "transport", "working_directory", "url", "container", "image", "isolation"),
        *(*lists, *flags, *numbers),
    ]
    told_only = ["settings", "state", "reason", "state_since"]
    prefetched = ["settings"]

    def relate(self, record: Upstream, row: Row) -> None:
        restart(record)


def restart(upstream: Upstream) -> None:
    """Restart the upstream so that a change takes effect."""
    services.touch(upstream)
    offering.apply_filter(upstream)
    services.announce_all()


@admin.register(Upstream)
class UpstreamAdmin(Transferable, ModelAdmin[Upstream]):
    group, icon = "Other servers", "dns"
    about = "MCP servers whose tools are offered in addition to contextd's own, as namespace__tool."
    rows = UpstreamRows
    list_display = ["namespace", "transport", "is_enabled", "state", "reason", "next_retry_at"]
    list_filter = ["state", "transport", "is_enabled"]
    search_fields = ["namespace"]
    readonly_fields = READ_ONLY_FIELDS
    inlines = [SettingInline, FeatureInline, EventInline]
    actions = ["restart_selected", "refresh_selected", *Exportable.actions]
    formfield_overrides = {ArrayField: {"delimiter": "\n", "widget": widgets.Lines}}

    def get_readonly_fields(self, request: HttpRequest, obj: Upstream | None = None) -> list[str]:
        return [*READ_ONLY_FIELDS, "namespace"] if obj else READ_ONLY_FIELDS

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        restart(form.instance)
        if problem := policy.problem_of(form.instance):
            messages.warning(request, f"{form.instance} cannot start: {problem}")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        tell_without_gateway(request)
        return super().changelist_view(request, extra_context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        tell_without_gateway(request)
        return super().change_view(request, object_id, form_url, extra_context)

    def get_deleted_objects(
        self, objs: Iterable[Upstream], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Count the features that are deleted with the upstream; nobody can delete them alone."""
        deleted = list(objs)
        offered = UpstreamFeature.objects.filter(upstream__in=deleted).count()
        counts = {"upstreams": len(deleted), "upstream features": offered}
        may_delete = self.has_delete_permission(request)
        lacking = set() if may_delete else {str(self.opts.verbose_name)}
        return [*map(str, deleted), f"{offered} upstream features"], counts, lacking, []

    def delete_model(self, request: HttpRequest, obj: Upstream) -> None:
        services.remove(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Upstream]) -> None:
        for upstream in queryset:
            services.remove(upstream)

    @admin.action(description="Restart the selected upstreams", permissions=["change"])
    def restart_selected(self, request: HttpRequest, queryset: QuerySet[Upstream]) -> None:
        control(request, "restart", queryset)

    @admin.action(description="Refresh what the selected upstreams offer", permissions=["change"])
    def refresh_selected(self, request: HttpRequest, queryset: QuerySet[Upstream]) -> None:
        control(request, "refresh", queryset)


def tell_without_gateway(request: HttpRequest) -> None:
    if request.method == "GET" and (problem := place.problem()):
        messages.warning(request, f"{problem}: the states are the last known ones")


def control(request: HttpRequest, action: str, upstreams: QuerySet[Upstream]) -> None:
    from gateway import client  # the SDK takes seconds to import

    for upstream in upstreams:
        try:
            client.control(action, upstream.namespace)
            messages.success(request, f"{upstream} is ready")
        except ContextdError as error:
            messages.error(request, error.message)


class FeatureRows(Rows):
    columns = [
        *("upstream", "kind", "name", "wire_name", "standing", "digest", "suspicions"),
        *("definition", "approved", "updated_at"),
    ]

    def cell(self, record: UpstreamFeature, name: str) -> Any:
        return offering.status_text(record) if name == "standing" else super().cell(record, name)


@admin.register(UpstreamFeature)
class UpstreamFeatureAdmin(Exportable, ModelAdmin[UpstreamFeature]):
    """Shows features and approves the ones that are held back."""

    group, icon = "Other servers", "build"
    about = "A feature that changes after its approval is held back until you approve it again."
    rows = FeatureRows
    list_display = ["__str__", "kind", "wire_name", "standing", "digest"]
    list_filter = ["kind", "upstream", "is_present", "is_allowed"]
    list_select_related = ["upstream"]
    search_fields = ["name", "wire_name"]
    fields = [
        *("upstream", "kind", "name", "wire_name", "standing"),
        *("difference", "definition", "approved"),
    ]
    readonly_fields = ["standing", "difference"]
    actions = ["approve_selected", *Exportable.actions]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # The list's action needs it; a single feature cannot be edited.
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="state")
    def standing(self, feature: UpstreamFeature) -> str:
        return offering.status_text(feature)

    @admin.display(description="changes since approval")
    def difference(self, feature: UpstreamFeature) -> str:
        return format_html(
            "<pre>{}</pre>", pinning.difference(feature.approved, feature.definition)
        )

    @admin.action(description="Review and approve the selected features", permissions=["change"])
    def approve_selected(
        self, request: HttpRequest, queryset: QuerySet[UpstreamFeature]
    ) -> TemplateResponse | None:
        """Show the differences first, then approve exactly what was shown."""
        features = queryset.select_related("upstream")
        if "shown" not in request.POST:
            return self._differences(request, features)
        shown = dict(pair.split(":", 1) for pair in request.POST.getlist("shown") if ":" in pair)
        pairs = [(one, shown.get(str(one.pk), "")) for one in features]
        try:
            for approved in offering.approve(pairs):
                self.log_change(request, approved, "approved")
                messages.success(request, f"{approved} is approved")
        except ContextdError as error:
            messages.error(request, error.message)
        return None

    def _differences(
        self, request: HttpRequest, features: QuerySet[UpstreamFeature]
    ) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Approve what upstreams offer",
            "opts": self.model._meta,
            "features": [
                (one, offering.shown_digest(one), self.difference(one)) for one in features
            ],
        }
        return TemplateResponse(request, "admin/gateway/upstreamfeature/approve.html", context)
