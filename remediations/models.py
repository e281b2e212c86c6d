"""Remediations: errors and their fixes."""

from collections.abc import Sequence
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from contextd.callers import Caller
from contextd.models import Project

MAX_TAGS = 20


class Severity(models.TextChoices):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class RemediationQuerySet(models.QuerySet["Remediation"]):
    def visible_to(self, caller: Caller) -> Self:
        if caller.projects is None:
            return self
        return self.filter(Q(project=None) | Q(project__in=caller.projects))

    def tagged(self, tags: Sequence[str]) -> Self:
        """Return the remediations that have all of the tags."""
        return self.filter(tags__contains=list(tags)) if tags else self


class Remediation(models.Model):
    """One fix of one error; another fix of the same error is another row."""

    project = models.ForeignKey(
        Project,
        models.CASCADE,
        related_name="remediations",
        null=True,
        blank=True,
        help_text="Without a project it is knowledge that all share",
    )
    error_message = models.TextField(max_length=10_000)
    error_type = models.CharField(max_length=200)
    stack_trace = models.TextField(max_length=50_000, blank=True)
    solution = models.TextField(max_length=20_000)
    context = models.JSONField(default=dict, blank=True)
    tags = ArrayField(models.CharField(max_length=50), default=list, blank=True, size=MAX_TAGS)
    severity = models.CharField(max_length=8, choices=Severity, blank=True)
    fingerprint = models.CharField(
        max_length=64, editable=False, help_text="The same for the same error, whenever it occurs"
    )
    solution_digest = models.CharField(max_length=64, editable=False)
    calls = ArrayField(
        models.TextField(), default=list, editable=False, help_text="Of its stack, innermost first"
    )
    seen_count = models.PositiveIntegerField(default=1, editable=False)
    last_seen_at = models.DateTimeField(auto_now_add=True)
    worked = models.PositiveIntegerField(default=0, editable=False)
    did_not_work = models.PositiveIntegerField(default=0, editable=False)
    outdated = models.PositiveIntegerField(default=0, editable=False)
    created_by = models.CharField(max_length=100, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = RemediationQuerySet.as_manager()

    class Meta:
        ordering = ["-last_seen_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["fingerprint", "solution_digest", "project"],
                nulls_distinct=False,
                name="remediation_once",
            )
        ]
        indexes = [
            models.Index(fields=["-last_seen_at"], name="remediation_last_seen"),
            models.Index(fields=["solution_digest"], name="remediation_solution"),
            GinIndex(fields=["tags"], name="remediation_tags"),
        ]

    def __str__(self) -> str:
        return self.error_message.strip().partition("\n")[0][:100]

    @property
    def confidence(self) -> float:
        """Return the chance that it works: the mean of Beta(1 + worked, 1 + failed), 0.5 unrated.

        A rating as outdated counts twice, since the fix then works for nobody.
        """
        failed = self.did_not_work + 2 * self.outdated
        return (1 + self.worked) / (2 + self.worked + failed)
