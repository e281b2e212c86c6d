from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string

from contextd.admin import (
    ONE_A_LINE,
    Exportable,
    FreshForm,
    ModelAdmin,
    NotEditable,
    OriginFilter,
    Rows,
    Shipped,
    Transferable,
    WritableRows,
    tell_redacted,
    widgets,
)
from contextd.errors import Invalid
from troubleshoot import curating
from troubleshoot.hypotheses import Hypothesis
from troubleshoot.library import DOMAIN, LIBRARY
from troubleshoot.models import Diagnosis, Pattern

EDITABLE_FIELDS = [
    *("key", "title", "category", "severity", "technologies", "versions", "errors", "signatures"),
    *("cause", "confirm", "fix", "confused_with", "tags", "references"),
]
USAGE_FIELDS = ["used_count", "last_used_at", "worked", "did_not_work", "created_at", "updated_at"]
SHIPPING_FIELDS = ["origin", "newer_text"]
VERBATIM_FIELDS = ["errors", "signatures"]
SEPARATOR = "\n---\n"


class PatternForm(FreshForm):
    """Drafts may be incomplete; what is published must be right."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if self.errors or cleaned.get("is_draft"):
            return cleaned
        written = {name: cleaned[name] for name in EDITABLE_FIELDS if name in cleaned}
        values = {"key": self.instance.key, **written}
        for field, problem in curating.problems(values).items():
            self.add_error(field if field in self.fields else None, problem)
        return cleaned


class PatternRows(WritableRows):
    """Found by their keys."""

    columns = [*EDITABLE_FIELDS, "is_draft"]
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
    values = {name: getattr(pattern, name) for name in EDITABLE_FIELDS}
    wrong = {} if pattern.is_draft else curating.problems(values)
    missing = {name for name, value in values.items() if not value} - {"key", "title"}
    try:
        pattern.full_clean(exclude=wrong.keys() | missing)
    except ValidationError as error:
        fields = error.message_dict.items()
        wrong |= {field: f"{field}: {' '.join(sentences)}" for field, sentences in fields}
    return [{"field": field, "error": sentence} for field, sentence in wrong.items()]


@admin.register(Pattern)
class PatternAdmin(Transferable, Shipped, ModelAdmin[Pattern]):
    """What people write wins over what ships, and upgrades leave it alone."""

    group, icon = "Knowledge", "troubleshoot"
    about = (
        "Causes of errors, how to be sure of them and how to end them. Drafts take no part in "
        "diagnoses. What you change here stays when contextd is upgraded."
    )
    rows = PatternRows
    library = LIBRARY
    search_domain = DOMAIN
    form = PatternForm
    list_display = ["title", "category", "severity", "is_draft", "origin", "used_count", "worked"]
    list_filter = ["category", "severity", "is_draft", OriginFilter]
    fields = [*EDITABLE_FIELDS, "is_draft", "opened", *SHIPPING_FIELDS, *USAGE_FIELDS]
    formfield_overrides = ONE_A_LINE
    actions = ["publish", *Shipped.actions, *Transferable.actions]

    def get_readonly_fields(self, request: HttpRequest, obj: Pattern | None = None) -> list[str]:
        return [*SHIPPING_FIELDS, *USAGE_FIELDS, *(["key"] if obj else [])]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Keep outer blanks of errors and signatures; separate errors, which have several lines."""
        if db_field.name in VERBATIM_FIELDS:
            kwargs["base_field"] = db_field.base_field.formfield(strip=False)
        if db_field.name == "errors":
            kwargs |= {
                "delimiter": SEPARATOR,
                "widget": widgets.Lines,
                "help_text": "As they are printed, separated by a line of ---",
            }
            return db_field.formfield(**kwargs)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Pattern, form: Any, change: bool) -> None:
        tell_redacted(request, curating.save(obj))

    @admin.action(description="Publish the selected drafts", permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Pattern]) -> None:
        for pattern in queryset.filter(is_draft=True):
            values = {name: getattr(pattern, name) for name in EDITABLE_FIELDS}
            if problems := curating.problems(values):
                reasons = "; ".join(problems.values())
                messages.error(request, f"{pattern.key} is not complete: {reasons}")
                continue
            pattern.is_draft = False
            curating.save(pattern)
            self.log_change(request, pattern, "published")
            messages.success(request, f"{pattern.key} is published")


class DiagnosisRows(Rows):
    columns = [
        *("id", "principal", "context", "error_message", "stack_trace", "error_type", "facts"),
        *("category", "tags", "mode", "hypotheses", "answers", "verdicts", "fixed_by"),
        *("remediation_id", "status", "created_at", "updated_at"),
    ]


@admin.register(Diagnosis)
class DiagnosisAdmin(Exportable, NotEditable, ModelAdmin[Diagnosis]):
    group, icon = "Activity", "stethoscope"
    about = "Errors that assistants asked about. One that is solved can be drafted as a pattern."
    rows = DiagnosisRows
    list_display = ["__str__", "status", "category", "mode", "principal", "created_at"]
    list_filter = ["status", "category", "mode", "created_at"]
    search_fields = ["error_message", "error_type", "fixed_by", "principal"]
    fields = [
        *("principal", "context", "error_message", "stack_trace", "error_type", "facts"),
        *("category", "tags", "mode", "likely_causes", "answers", "verdicts", "fixed_by"),
        *("remediation_id", "status", "created_at", "updated_at"),
    ]
    readonly_fields = ["likely_causes"]
    actions = ["draft_patterns", *Exportable.actions]

    @admin.display(description="hypotheses")
    def likely_causes(self, diagnosis: Diagnosis) -> str:
        """List each hypothesis with its probability, evidence, checks and actions."""
        hypotheses = [Hypothesis.model_validate(one) for one in diagnosis.hypotheses]
        page = "admin/troubleshoot/diagnosis/hypotheses.html"
        return render_to_string(page, {"hypotheses": hypotheses})

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
