from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.fields import ArrayField
from django.db.models import QuerySet, URLField
from django.http import HttpRequest
from django.utils.html import format_html

from contextd.admin import ModelAdmin, TabularInline, widgets
from contextd.errors import ContextdError
from gateway import pinning, services
from gateway.models import Upstream, UpstreamEvent, UpstreamSetting, UpstreamTool

if TYPE_CHECKING:
    SettingModelForm = forms.ModelForm[UpstreamSetting]
    Inline = TabularInline[Any, Upstream]
else:
    SettingModelForm = forms.ModelForm
    Inline = TabularInline


class SettingForm(SettingModelForm):
    """A value does not go to the browser again."""

    value = forms.CharField(
        required=False,
        widget=widgets.Password({"autocomplete": "new-password"}),
        help_text="Leave empty to keep what is saved",
    )

    class Meta:
        model = UpstreamSetting
        fields = ["name", "value"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("value") and not self.instance.pk:
            self.add_error("value", "Give a value.")
        return cleaned

    def save(self, commit: bool = True) -> UpstreamSetting:
        if self.cleaned_data["value"]:
            self.instance.value = self.cleaned_data["value"]
        return super().save(commit)


class SettingInline(Inline):
    model = UpstreamSetting
    form = SettingForm
    extra = 0
    verbose_name_plural = "Environment or, for http, headers; nothing else is passed on"


class LookedAt(Inline):
    """To look at only."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Upstream | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Upstream | None = None) -> bool:
        return False


class ToolInline(LookedAt):
    model = UpstreamTool
    fields = ["name", "wire_name", "standing"]
    readonly_fields = ["standing"]
    show_change_link = True

    @admin.display(description="state")
    def standing(self, tool: UpstreamTool) -> str:
        return services.standing(tool)


class EventInline(LookedAt):
    model = UpstreamEvent
    fields = ["at", "state", "reason"]
    readonly_fields = ["at"]


SHOWN = ["state", "reason", "next_retry_at", "state_since"]


@admin.register(Upstream)
class UpstreamAdmin(ModelAdmin[Upstream]):
    group, icon = "Other servers", "dns"
    about = "MCP servers whose tools are offered beside contextd's own, as namespace__tool."
    list_display = ["namespace", "transport", "is_enabled", "state", "reason", "next_retry_at"]
    list_filter = ["state", "transport", "is_enabled"]
    search_fields = ["namespace"]
    readonly_fields = SHOWN
    inlines = [SettingInline, ToolInline, EventInline]
    actions = ["restart_selected", "refresh_selected"]
    formfield_overrides = {
        ArrayField: {"delimiter": "\n", "widget": widgets.Lines},
        URLField: {"assume_scheme": "https"},
    }

    def get_readonly_fields(self, request: HttpRequest, obj: Upstream | None = None) -> list[str]:
        return [*SHOWN, "namespace"] if obj else SHOWN

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        services.touch(form.instance)
        services.apply_filter(form.instance)

    @admin.action(description="Restart the selected upstreams", permissions=["change"])
    def restart_selected(self, request: HttpRequest, queryset: QuerySet[Upstream]) -> None:
        control(request, "restart", queryset)

    @admin.action(description="List the tools of the selected upstreams anew")
    def refresh_selected(self, request: HttpRequest, queryset: QuerySet[Upstream]) -> None:
        control(request, "refresh", queryset)


def control(request: HttpRequest, action: str, upstreams: QuerySet[Upstream]) -> None:
    from gateway import link  # the SDK takes seconds to import

    for upstream in upstreams:
        try:
            link.control(action, upstream.namespace)
            messages.success(request, f"{upstream} is ready")
        except ContextdError as error:
            messages.error(request, error.message)


@admin.register(UpstreamTool)
class UpstreamToolAdmin(ModelAdmin[UpstreamTool]):
    group, icon = "Other servers", "build"
    about = "A tool that changed after it was approved is held back until you approve it again."
    list_display = ["__str__", "wire_name", "standing", "digest"]
    list_filter = ["upstream", "is_present", "is_allowed"]
    list_select_related = ["upstream"]
    search_fields = ["name", "wire_name"]
    fields = ["upstream", "name", "wire_name", "standing", "difference", "definition", "approved"]
    readonly_fields = ["standing", "difference"]
    actions = ["approve_selected"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Of the list, whose action needs it, but not of a tool.
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="state")
    def standing(self, tool: UpstreamTool) -> str:
        return services.standing(tool)

    @admin.display(description="what has changed since it was approved")
    def difference(self, tool: UpstreamTool) -> str:
        return format_html("<pre>{}</pre>", pinning.difference(tool.approved, tool.definition))

    @admin.action(description="Approve the selected tools as they are now", permissions=["change"])
    def approve_selected(self, request: HttpRequest, queryset: QuerySet[UpstreamTool]) -> None:
        for tool in queryset.select_related("upstream"):
            services.approve(tool)
            self.log_change(request, tool, "approved")
            messages.success(request, f"{tool} is approved")
