"""Threats: security problems by kind of work, and how to prevent them."""

from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Value, When

from contextd.callers import Caller
from contextd.models import ShippedRecord
from threats.schema import ThreatPattern

ANY = "any"


class Severity(models.TextChoices):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Likelihood(models.TextChoices):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ThreatQuerySet(models.QuerySet["Threat"]):
    def published(self) -> Self:
        return self.filter(is_published=True, is_retired=False)

    def visible_to(self, caller: Caller) -> Self:
        """Return all published threats, since they are shared knowledge."""
        return self.published()

    def fitting(self, language: str | None, frameworks: list[str]) -> Self:
        """Return threats that apply to the language and one of the frameworks; empty: any."""
        fitting = self
        if language:
            fitting = fitting.filter(languages__overlap=[language, ANY])
        if frameworks:
            fitting = fitting.filter(frameworks__overlap=[*frameworks, ANY])
        return fitting

    def showing(self, language: str | None, frameworks: list[str]) -> Self:
        """Return threats with code in the language and one of the frameworks; empty: any."""
        showing = self
        if language:
            showing = showing.filter(languages__contains=[language])
        if frameworks:
            showing = showing.filter(frameworks__overlap=frameworks)
        return showing

    def without_content(self) -> Self:
        """Load only what identifies a threat; `services.pattern_of` supplies the rest."""
        return self.only("key", "name", "category", "severity", "updated_at")

    def as_rows(self) -> Self:
        """Load only the fields that lists show."""
        return self.only(
            *("key", "name", "category", "subcategory"),
            *("severity", "likelihood", "cwes", "owasps"),
        )

    def worst_first(self) -> Self:
        severity = Case(*(When(severity=s, then=Value(n)) for n, s in enumerate(Severity)))
        likelihood = Case(*(When(likelihood=s, then=Value(n)) for n, s in enumerate(Likelihood)))
        return self.order_by(severity, likelihood, "key")


def text_array(length: int) -> Any:
    return ArrayField(models.CharField(max_length=length), default=list, editable=False)


class Threat(ShippedRecord):
    """A threat pattern; `content` is complete, and filtered fields are also columns."""

    content = models.JSONField()
    is_published = models.BooleanField(
        "published", default=True, help_text="What is not published is a draft, seen only here"
    )
    name = models.CharField(max_length=120, editable=False)
    tier = models.CharField(max_length=1, editable=False)
    category = models.CharField(max_length=50, editable=False)
    subcategory = models.CharField(max_length=50, editable=False)
    severity = models.CharField(max_length=8, choices=Severity, editable=False)
    likelihood = models.CharField(max_length=6, choices=Likelihood, editable=False)
    languages = text_array(20)
    frameworks = text_array(20)
    cwes = text_array(10)
    owasps = text_array(12)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ThreatQuerySet.as_manager()

    class Meta:
        ordering = ["key"]
        indexes = [GinIndex(fields=["cwes"], name="threat_cwes")]

    def __str__(self) -> str:
        return f"{self.key} {self.name}"

    def read(self) -> ThreatPattern:
        return ThreatPattern.model_validate(self.content)


def fields_of(pattern: ThreatPattern) -> dict[str, Any]:
    """Return the model fields for a pattern, with its content as JSON."""
    references = pattern.provenance.public_references
    examples = [example for m in pattern.mitigations for example in m.code_examples]
    # Framework-free code does not make a framework's threat a general one.
    shown = {example.framework for example in examples} - {ANY}
    return {
        "content": pattern.model_dump(mode="json"),
        "name": pattern.name,
        "tier": pattern.tier,
        "category": pattern.category,
        "subcategory": pattern.subcategory,
        "severity": pattern.severity,
        "likelihood": pattern.likelihood,
        "languages": sorted({pattern.language, *(example.language for example in examples)}),
        "frameworks": sorted({pattern.framework, *shown}),
        "cwes": sorted({reference.cwe for reference in references if reference.cwe}),
        "owasps": sorted({reference.owasp for reference in references if reference.owasp}),
    }
