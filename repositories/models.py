"""Repositories: folders of code, and their indexed files."""

from collections.abc import Sequence
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import MD5

from contextd.callers import Caller
from contextd.models import Project
from contextd.validation import MAX_PATH_LENGTH


class RepositoryQuerySet(models.QuerySet["Repository"]):
    def visible_to(self, caller: Caller) -> Self:
        return self if caller.projects is None else self.filter(project__in=caller.projects)


class Repository(models.Model):
    """An indexed folder, with the options and the report of its last run."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="repositories")
    path = models.CharField(max_length=MAX_PATH_LENGTH, help_text="Where the server reads it")
    host = models.CharField(max_length=255, blank=True, help_text="The machine that indexed it")
    include_patterns = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    exclude_patterns = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    max_file_size = models.PositiveIntegerField()
    report = models.JSONField(default=dict, help_text="What the last run that ended has found")
    created_by = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    indexed_at = models.DateTimeField(null=True)

    objects = RepositoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "repositories"
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(
                MD5("path"), name="repository_once"
            ),  # the path is too long for an index
        ]

    def __str__(self) -> str:
        return self.path


class SourceFileQuerySet(models.QuerySet["SourceFile"]):
    def visible_to(self, caller: Caller) -> Self:
        return (
            self
            if caller.projects is None
            else self.filter(repository__project__in=caller.projects)
        )

    def matching(self, conditions: Sequence[tuple[bool, str]]) -> Self:
        """Filter by path. Each regular expression includes files or, with False, excludes them.

        The last match decides. If the first one excludes, all other files are included.
        """
        begins_with_all = not conditions or not conditions[0][0]
        chosen = models.Q() if begins_with_all else models.Q(pk__in=[])
        for lets_in, expression in conditions:
            matches = models.Q(path__regex=expression)
            chosen = chosen | matches if lets_in else chosen & ~matches
        return self.filter(chosen)

    def digests(self) -> dict[str, tuple[int, str]]:
        """Return key and digest by path."""
        rows: Any = self.values_list("path", "pk", "digest")
        return {path: (pk, digest) for path, pk, digest in rows.iterator()}


class SourceFile(models.Model):
    """A file as of its indexing; its text is in its passages."""

    repository = models.ForeignKey(Repository, models.CASCADE, related_name="files", db_index=False)
    path = models.CharField(max_length=MAX_PATH_LENGTH, help_text="Within the repository")
    language = models.CharField(max_length=32)
    size = models.PositiveIntegerField()
    digest = models.CharField(max_length=32, editable=False)
    symbols = ArrayField(models.TextField(), default=list, help_text="What is defined in it")
    modified_at = models.DateTimeField()
    indexed_at = models.DateTimeField(auto_now=True)

    objects = SourceFileQuerySet.as_manager()

    class Meta:
        ordering = ["repository", "path"]
        constraints = [
            models.UniqueConstraint("repository", MD5("path"), name="repository_file_once"),
        ]
        indexes = [
            GinIndex(fields=["symbols"], name="repository_symbols"),
            models.Index(fields=["language"], name="repository_language"),
        ]

    def __str__(self) -> str:
        return self.path
