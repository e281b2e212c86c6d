"""Patterns: what is known about errors. Diagnoses: what callers asked and what became of it."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import ExpressionWrapper, F, FloatField

from contextd.callers import Caller
from contextd.models import ShippedRecord
from remediations.models import Severity


class Category(models.TextChoices):
    CONFIGURATION = "configuration"
    RESOURCE = "resource"
    DEPENDENCY = "dependency"
    PERMISSION = "permission"
    LOGIC = "logic"
    NETWORK = "network"
    STORAGE = "storage"
    SECURITY = "security"
    CONCURRENCY = "concurrency"
    BUILD = "build"
    DATA = "data"
    GENERAL = "general"


SUCCESS_RATE = ExpressionWrapper(
    (F("worked") + 1.0) / (F("worked") + F("did_not_work") + 2.0), output_field=FloatField()
)
"""`Pattern.success_rate`, to filter and sort by."""


class PatternQuerySet(models.QuerySet["Pattern"]):
    def published(self) -> Self:
        return self.filter(is_draft=False, is_retired=False)

    def visible_to(self, caller: Caller) -> Self:
        """Patterns are knowledge that all share; drafts are for those who curate."""
        return self.published()


class Pattern(ShippedRecord):
    """A root cause: the errors it prints, how to be sure of it, how to end it."""

    title = models.CharField(max_length=200)
    category = models.CharField(max_length=13, choices=Category)
    severity = models.CharField(max_length=8, choices=Severity)
    technologies = ArrayField(models.CharField(max_length=50), size=20, default=list)
    versions = models.JSONField(
        default=dict,
        blank=True,
        help_text='{"python": ">=3.12"}: where alone it happens, if a version decides',
    )
    errors = ArrayField(models.TextField(max_length=10_000), size=50, default=list)
    signatures = ArrayField(
        models.CharField(max_length=500),
        size=20,
        default=list,
        blank=True,
        help_text="Regular expressions for exact codes and fixed wording. A named group fills the "
        "placeholder of its name: (?P<port>\\d+)",
    )
    cause = models.TextField(max_length=5_000)
    confirm = models.JSONField(
        default=list,
        help_text='[{"run": ..., "expect": ...}]. Write {port}, {host}, {file} and so on for what '
        'differs from error to error; "conclusive": false if the outcome is always the same',
    )
    fix = models.JSONField(
        default=list,
        help_text='[{"do": ..., "run": ..., "destructive": false}], the safest first; with '
        "placeholders as in the checks",
    )
    confused_with = models.JSONField(
        default=list, blank=True, help_text='[{"id": key of the other, "tell": ...}]'
    )
    tags = ArrayField(models.CharField(max_length=50), size=20, default=list, blank=True)
    references = ArrayField(models.CharField(max_length=500), size=20, default=list, blank=True)
    is_draft = models.BooleanField(default=False, help_text="Drafts take no part in diagnoses")
    used_count = models.PositiveIntegerField(default=0, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    worked = models.PositiveIntegerField(default=0, editable=False)
    did_not_work = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = PatternQuerySet.as_manager()

    class Meta:
        ordering = ["key"]
        indexes = [
            models.Index(fields=["category", "severity"], name="pattern_category"),
            models.Index(fields=["-updated_at"], name="pattern_updated"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def success_rate(self) -> float:
        """The mean of Beta(1 + worked, 1 + did not): 0.5 without ratings."""
        return (1 + self.worked) / (2 + self.worked + self.did_not_work)


class DiagnosisQuerySet(models.QuerySet["Diagnosis"]):
    def visible_to(self, caller: Caller) -> Self:
        """A caller's own, in the context they were asked in."""
        return self.filter(principal=caller.principal, context=caller.context)


class Diagnosis(models.Model):
    """One session of troubleshooting: an error, what may have caused it, what was found out."""

    class Status(models.TextChoices):
        OPEN = "open"
        SOLVED = "solved"
        UNSOLVED = "unsolved"

    principal = models.CharField(max_length=200)
    context = models.CharField(max_length=200)
    error_message = models.TextField()
    stack_trace = models.TextField(blank=True)
    error_type = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(default=dict, help_text="What the caller said of the circumstances")
    category = models.CharField(max_length=13, choices=Category, blank=True)
    tags = ArrayField(models.CharField(max_length=50), size=20, default=list)
    mode = models.CharField(max_length=11)
    hypotheses = models.JSONField(default=list, help_text="As answered, the likeliest first")
    answers = models.JSONField(default=dict, help_text="What came of each check")
    verdicts = models.JSONField(default=dict, help_text="Which hypotheses helped, which did not")
    fixed_by = models.TextField(blank=True)
    remediation_id = models.BigIntegerField(null=True, help_text="Where the fix is kept")
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DiagnosisQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = "troubleshooting session"
        indexes = [
            models.Index(fields=["principal", "context"], name="diagnosis_of"),
            models.Index(fields=["-created_at", "-id"], name="diagnosis_newest"),
        ]

    def __str__(self) -> str:
        return self.error_message.strip().partition("\n")[0][:100]
