from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html

from contextd import yaml_files
from contextd.admin import (
    FreshForm,
    ModelAdmin,
    OriginFilter,
    Shipped,
    Transferable,
    WritableRows,
    tell_redacted,
    widgets,
)
from contextd.errors import Invalid
from contextd.yaml_files import Faulty
from threats import knowledge, markdown, services
from threats.models import Threat
from threats.schema import ThreatPattern


class ThreatForm(FreshForm):
    """Edits the complete threat as YAML, in the format of its file."""

    pattern: ThreatPattern
    content = forms.CharField(
        widget=widgets.Lines(attrs={"rows": 40, "class": "code"}),
        help_text="In the format of the shipped files; errors are reported with their lines",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            content = {knowledge.ROOT: self.instance.content}
            self.initial["content"] = yaml_files.dump(content)

    def clean_content(self) -> dict[str, Any]:
        try:
            relations = knowledge.relations(services.known_ids())
            self.pattern = knowledge.written(self.cleaned_data["content"], relations)
            services.without_credentials(self.pattern)
            self._check_id(self.pattern.id)
        except Invalid as error:
            raise forms.ValidationError(error.message) from None
        except Faulty as faulty:
            lines = [f"Line {one.line}: {one.reason}" for one in faulty.complaints]
            raise forms.ValidationError([*lines]) from None
        return self.pattern.model_dump(mode="json")

    def _check_id(self, key: str) -> None:
        if self.instance.pk:
            if key != self.instance.key:
                raise Invalid(f"The id is {self.instance.key} and cannot be changed.", field="id")
            return
        if Threat.objects.filter(key=key).exists():
            raise Invalid(f"The threat {key} exists already.", field="id")
        services.refuse_reserved(key)


class ThreatRows(WritableRows):
    """Matches rows by key; the content is the complete threat, as in the shipped files."""

    columns = ["key", "is_published", "content"]
    objects, flags = ["content"], ["is_published"]

    def known(self, row: Mapping[str, Any]) -> Threat | None:
        return Threat.objects.filter(key=str(row.get("key", ""))).first()

    def cell(self, record: Threat, name: str) -> Any:
        value = super().cell(record, name)
        return {knowledge.ROOT: value} if name == "content" else value

    def write(self, record: Threat | None, row: Mapping[str, Any]) -> Threat:
        pattern = self._pattern(row.get("content", {}))
        if pattern.id != row.get("key"):
            raise Invalid(f"key must be the id in the content, {pattern.id}", field="key")
        if record is None:
            services.refuse_reserved(pattern.id)
        threat = record or Threat()
        threat.is_published = row.get("is_published", threat.is_published)
        self.redacted += services.write(threat, pattern)
        return threat

    def _pattern(self, content: Any) -> ThreatPattern:
        try:
            return knowledge.written(yaml_files.dump(content))
        except RecursionError:
            raise Invalid("content is nested too deeply", field="content") from None
        except Faulty as faulty:
            problems = [{"error": f"content: {one.reason}"} for one in faulty.complaints]
            raise Invalid(problems[0]["error"], field="content", problems=problems) from None


@admin.register(Threat)
class ThreatAdmin(Transferable, Shipped, ModelAdmin[Threat]):
    group, icon = "Knowledge", "security"
    about = (
        "Security threats by kind of work, and how to prevent them. Your changes survive "
        "upgrades of contextd; newer texts are offered."
    )
    form = ThreatForm
    rows = ThreatRows
    library = services.LIBRARY
    search_domain = services.DOMAIN
    list_display = ["key", "name", "category", "severity", "likelihood", "is_published", "origin"]
    list_filter = ["category", "severity", "likelihood", "tier", "is_published", OriginFilter]
    fields = ["content", "is_published", "opened", "origin", "newer_text", "page"]
    readonly_fields = ["origin", "newer_text", "page"]
    actions = [*Shipped.actions, "publish", "make_drafts", *Transferable.actions]
    change_list_template = "admin/threats/threat/change_list.html"

    @admin.display(description="as assistants read it")
    def page(self, threat: Threat) -> str:
        return format_html("<pre>{}</pre>", markdown.render(threat.read())) if threat.pk else "-"

    def save_model(self, request: HttpRequest, obj: Threat, form: Any, change: bool) -> None:
        tell_redacted(request, services.write(obj, form.pattern))

    @admin.action(description="Publish the selected threats", permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Threat]) -> None:
        self.log_changes(request, queryset, "published")
        messages.success(request, f"{services.publish(queryset, is_published=True)} published")

    @admin.action(description="Turn the selected threats into drafts", permissions=["change"])
    def make_drafts(self, request: HttpRequest, queryset: QuerySet[Threat]) -> None:
        self.log_changes(request, queryset, "made a draft")
        drafts = services.publish(queryset, is_published=False)
        messages.success(request, f"{drafts} are now drafts, which assistants do not see")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.coverage)
        return [path("coverage/", view, name="threats_coverage"), *super().get_urls()]

    def coverage(self, request: HttpRequest) -> HttpResponse:
        """Show entries of CWE and OWASP with their threats, and those of OWASP without any."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        cwe = [one for one in services.coverage("cwe") if one.threats]
        context = {
            **self.admin_site.each_context(request),
            "title": "Coverage by OWASP and CWE",
            "lists": [("OWASP", services.coverage("owasp")), ("CWE", cwe)],
        }
        return TemplateResponse(request, "admin/threats/threat/coverage.html", context)
