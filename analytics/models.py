"""Recorded calls: each for a limited time, their daily sums permanently."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from contextd.callers import Caller
from contextd.models import OfCallersQuerySet, Project

NAME_LENGTH = 100
QUERY_LENGTH = 200
DIAGNOSIS = "diagnosis"
BUCKETS = 72
"""Number of latency buckets; bucket i counts those of up to 2 ** (i / 4) milliseconds."""


def in_projects_of(caller: Caller) -> Q:
    """Match rows of the caller's projects, and those without one in the caller's context."""
    if caller.projects is None:
        return Q()
    return Q(project__in=caller.projects) | Q(project=None, context=caller.context)


class WorkSessionQuerySet(OfCallersQuerySet):
    def visible_to(self, caller: Caller) -> Self:
        if caller.projects is None:
            return self
        of_none = Q(projects=[], context=caller.context)
        return self.filter(Q(projects__overlap=list(caller.projects)) | of_none)

    def between(self, start: datetime, end: datetime) -> Self:
        return self.filter(began_at__gte=start, began_at__lt=end)

    def touching(self, project: Project | None) -> Self:
        """Return the sessions with calls about the project; all of them without one."""
        return self if project is None else self.filter(projects__contains=[project.pk])


class WorkSession(models.Model):
    """Calls over one connection without a long pause; its caller is forgotten with the calls."""

    key = models.CharField(max_length=200, blank=True)
    principal = models.CharField(max_length=NAME_LENGTH, blank=True)
    client = models.CharField(max_length=NAME_LENGTH, blank=True)
    context = models.CharField(max_length=64)
    door = models.CharField(max_length=10)
    projects = ArrayField(models.BigIntegerField(), default=list)
    calls = models.PositiveIntegerField(default=0)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(help_text="Its last call until now")

    objects = WorkSessionQuerySet.as_manager()

    class Meta:
        ordering = ["-began_at", "-pk"]
        indexes = [
            models.Index(fields=["-began_at"], name="worksession_began"),
            models.Index(fields=["key", "-ended_at"], name="worksession_of_key"),
            GinIndex(fields=["projects"], name="worksession_projects"),
        ]

    def __str__(self) -> str:
        return f"{self.client or 'somebody'} in {self.context}"


class EventQuerySet(OfCallersQuerySet):
    def visible_to(self, caller: Caller) -> Self:
        return self.filter(in_projects_of(caller))

    def with_queries_for(self, caller: Caller) -> Self:
        """Exclude diagnoses whose error the caller may not read; other queries are for all."""
        if caller.is_local:
            return self
        return self.exclude(domain=DIAGNOSIS) | self.filter(domain=DIAGNOSIS).of_caller(caller)

    def unanswered(self) -> Self:
        """Return the searches that found nothing."""
        return self.filter(found__isnull=False, returned=0)

    def between(self, start: datetime, end: datetime) -> Self:
        return self.filter(at__gte=start, at__lt=end)


class Event(models.Model):
    """One finished call; `domain` is the kind of record it searched or was about."""

    at = models.DateTimeField()
    session = models.ForeignKey(WorkSession, models.CASCADE, related_name="events")
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, db_constraint=False, related_name="+"
    )
    context = models.CharField(max_length=64)
    principal = models.CharField(max_length=NAME_LENGTH)
    client = models.CharField(max_length=NAME_LENGTH)
    door = models.CharField(max_length=10)
    operation = models.CharField(max_length=NAME_LENGTH)
    outcome = models.CharField(max_length=20)
    milliseconds = models.FloatField()
    domain = models.CharField(max_length=64, blank=True)
    query = models.CharField(max_length=QUERY_LENGTH, blank=True, help_text="Without credentials")
    found = ArrayField(
        models.BigIntegerField(),
        null=True,
        help_text="Ids of what a search returned, as far as known",
    )
    returned = models.PositiveIntegerField(
        null=True, help_text="How many records a search returned"
    )
    searched_tokens = models.BigIntegerField(null=True)
    returned_tokens = models.BigIntegerField(null=True)
    was_useful = models.BooleanField(null=True, help_text="What it found was used and helped")
    used = models.BigIntegerField(null=True, help_text="The record that it was about")
    helped = models.BooleanField(null=True)
    lookups = models.PositiveSmallIntegerField(default=0)
    cached = models.PositiveSmallIntegerField(default=0)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["-at"], include=["client", "outcome"], name="event_newest"),
            models.Index(fields=["session", "domain"], name="event_of_session"),
            models.Index(fields=["operation", "-at"], name="event_of_operation"),
            models.Index(
                fields=["domain", "used", "-at"],
                include=["outcome"],
                name="event_of_record",
                condition=Q(used__isnull=False),
            ),
            models.Index(
                fields=["at"],
                include=["domain", "query", "returned", "outcome"],
                name="event_search",
                condition=Q(found__isnull=False),
            ),
            GinIndex(fields=["found"], name="event_found"),
        ]

    def __str__(self) -> str:
        return f"{self.operation}: {self.outcome}"


class TallyQuerySet(models.QuerySet["Tally"]):
    def visible_to(self, caller: Caller) -> Self:
        return self.filter(in_projects_of(caller))


class Tally(models.Model):
    """The sums of an operation's calls on one day, by project and context."""

    day = models.DateField()
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, db_constraint=False, related_name="+"
    )
    context = models.CharField(max_length=64)
    operation = models.CharField(max_length=NAME_LENGTH)
    calls = models.PositiveIntegerField()
    failures = models.PositiveIntegerField()
    milliseconds = models.FloatField()
    searches = models.PositiveIntegerField()
    search_milliseconds = models.FloatField(help_text="Sum of the milliseconds of searches")
    answered = models.PositiveIntegerField(help_text="Searches that found something")
    useful = models.PositiveIntegerField(help_text="Searches of which a result was used")
    reduction = models.FloatField(help_text="Sum of the reductions in percent, of those answered")
    spared_tokens = models.BigIntegerField(help_text="By the useful ones, as far as one would read")
    lookups = models.PositiveIntegerField()
    cached = models.PositiveIntegerField()
    latencies = ArrayField(models.PositiveIntegerField(), size=BUCKETS)

    objects = TallyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "tallies"
        ordering = ["-day", "operation"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "project", "context", "operation"],
                nulls_distinct=False,
                name="tally_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} on {self.day}"
