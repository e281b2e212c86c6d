from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from contextd import search, shipped
from contextd.admin import (
    ONE_A_LINE,
    Exportable,
    ModelAdmin,
    ReadOnly,
    Rows,
    SearchByMeaning,
    Transferable,
    WritableRows,
    tell_redacted,
    widgets,
)
from contextd.errors import Invalid
from troubleshoot import curating, library
from troubleshoot.models import Diagnosis, Pattern

WRITTEN = [
    *("key", "title", "category", "severity", "technologies", "versions", "errors", "signatures"),
    *("cause", "confirm", "fix", "confused_with", "tags", "references"),
]
COUNTED = ["used_count", "last_used_at", "worked", "did_not_work", "created_at", "updated_at"]
SEPARATOR = "\n---\n"


class PatternForm(forms.ModelForm[Pattern]):
    """Drafts may be incomplete; what is published must be right."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors or cleaned.get("is_draft"):
            return cleaned
        written = {name: cleaned[name] for name in WRITTEN if name in cleaned}
        values = {"key": self.instance.key, **written}
        for field, problem in curating.problems(values).items():
            self.add_error(field if field in self.fields else None, problem)
        return cleaned


class OriginFilter(admin.SimpleListFilter):
    title = "origin"
    parameter_name = "origin"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("shipped", "Ships with contextd"),
            ("own", "Written here"),
            ("offer", "Newer text"),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Pattern]
    ) -> QuerySet[Pattern] | None:
        conditions = {
            "shipped": {"shipped__isnull": False},
            "own": {"shipped__isnull": True},
            "offer": {"offered__isnull": False},
        }
        chosen = conditions.get(self.value() or "")
        return queryset.filter(**chosen) if chosen else None


class PatternRows(WritableRows):
    """Found by their keys."""

    columns = [*WRITTEN, "is_draft"]
    lists = [
        *("technologies", "errors", "signatures", "confirm", "fix", "confused_with"),
        *("tags", "references"),
    ]
    objects = ["versions"]
    flags = ["is_draft"]

    def known(self, row: Mapping[str, Any]) -> Pattern | None:
        return Pattern.objects.filter(key=str(row.get("key", ""))).first()

    def write(self, record: Pattern | None, row: Mapping[str, Any]) -> Pattern:
        pattern = record or Pattern()
        for name in row:
            setattr(pattern, name, row[name])
        problems = problems_of(pattern)
        if problems:
            raise Invalid(problems[0]["error"], **problems[0], problems=problems)
        self.redacted += curating.save(pattern)
        return pattern


def problems_of(pattern: Pattern) -> list[dict[str, str]]:
    """Drafts may be incomplete, but what they say must fit."""
    values = {name: getattr(pattern, name) for name in WRITTEN}
    wrong = {} if pattern.is_draft else curating.problems(values)
    missing = {name for name, value in values.items() if not value} - {"key", "title"}
    try:
        pattern.full_clean(exclude=wrong.keys() | missing)
    except ValidationError as error:
        fields = error.message_dict.items()
        wrong |= {field: f"{field}: {' '.join(sentences)}" for field, sentences in fields}
    return [{"field": field, "error": sentence} for field, sentence in wrong.items()]


@admin.register(Pattern)
class PatternAdmin(Transferable, SearchByMeaning, ModelAdmin[Pattern]):
    """What people write wins over what ships, and upgrades leave it alone."""

    group, icon = "Knowledge", "troubleshoot"
    about = (
        "Causes of errors, how to be sure of them and how to end them. Drafts take no part in "
        "diagnoses. What you change here stays when contextd is upgraded."
    )
    rows = PatternRows
    search_domain = library.DOMAIN
    form = PatternForm
    list_display = ["title", "category", "severity", "is_draft", "used_count", "worked"]
    list_filter = ["category", "severity", "is_draft", OriginFilter]
    fields = [*WRITTEN, "is_draft", *COUNTED]
    formfield_overrides = ONE_A_LINE
    actions = ["publish", "take_offered", *Transferable.actions]

    def get_readonly_fields(self, request: HttpRequest, obj: Pattern | None = None) -> list[str]:
        return [*COUNTED, *(["key"] if obj else [])]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """An error has several lines, so errors are parted by a line of dashes."""
        if db_field.name == "errors":
            kwargs |= {
                "delimiter": SEPARATOR,
                "widget": widgets.Lines,
                "help_text": "As they are printed, parted by a line of ---",
            }
            return db_field.formfield(**kwargs)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Pattern, form: Any, change: bool) -> None:
        tell_redacted(request, curating.save(obj))

    def has_delete_permission(self, request: HttpRequest, obj: Pattern | None = None) -> bool:
        """What ships would come back; it can be made a draft."""
        may = super().has_delete_permission(request, obj)
        return may and (obj is None or obj.shipped is None)

    def delete_model(self, request: HttpRequest, obj: Pattern) -> None:
        curating.delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Pattern]) -> None:
        own = queryset.filter(shipped=None)
        with transaction.atomic():
            search.forget(library.DOMAIN, list(own.values_list("pk", flat=True)))
            own.delete()

    @admin.action(description="Publish the selected drafts", permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Pattern]) -> None:
        for pattern in queryset.filter(is_draft=True):
            values = {name: getattr(pattern, name) for name in WRITTEN}
            if problems := curating.problems(values):
                reasons = "; ".join(problems.values())
                messages.error(request, f"{pattern.key} is not complete: {reasons}")
                continue
            pattern.is_draft = False
            curating.save(pattern)
            self.log_change(request, pattern, "published")
            messages.success(request, f"{pattern.key} is published")

    @admin.action(description="Take the newer text that ships", permissions=["change"])
    def take_offered(self, request: HttpRequest, queryset: QuerySet[Pattern]) -> None:
        taken = shipped.take_offered(library.LIBRARY, queryset)
        for pattern in taken:
            self.log_change(request, pattern, "took the newer text that ships")
        messages.success(request, f"{len(taken)} took the newer text")


class DiagnosisRows(Rows):
    columns = [
        *("id", "principal", "context", "error_message", "stack_trace", "error_type", "facts"),
        *("category", "tags", "mode", "hypotheses", "answers", "verdicts", "fixed_by"),
        *("remediation_id", "status", "created_at", "updated_at"),
    ]


@admin.register(Diagnosis)
class DiagnosisAdmin(Exportable, ReadOnly, ModelAdmin[Diagnosis]):
    group, icon = "Activity", "stethoscope"
    about = "Errors that assistants asked about. One that is solved can be drafted as a pattern."
    rows = DiagnosisRows
    list_display = ["__str__", "status", "category", "mode", "principal", "created_at"]
    list_filter = ["status", "category", "mode", "created_at"]
    search_fields = ["error_message", "error_type", "fixed_by", "principal"]
    actions = ["draft_patterns", *Exportable.actions]

    @admin.action(description="Draft a pattern of each that is solved", permissions=["view"])
    def draft_patterns(self, request: HttpRequest, queryset: QuerySet[Diagnosis]) -> None:
        if not request.user.has_perm("troubleshoot.add_pattern"):
            messages.error(request, "Not done: you may not add patterns")
            return
        for diagnosis in queryset:
            try:
                pattern = curating.draft_of(diagnosis)
            except Invalid as error:
                messages.warning(request, f"Not done: {error.message}")
            else:
                patterns = admin.site.get_model_admin(Pattern)
                patterns.log_addition(request, pattern, f"drafted from {diagnosis}")
                messages.success(request, f"Drafted {pattern.key}: complete and publish it")
