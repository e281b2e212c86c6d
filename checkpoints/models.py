"""Checkpoints: the saved state of sessions, so that they can be resumed."""

from collections.abc import Sequence
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from contextd.callers import Caller
from contextd.models import Project
from contextd.validation import MAX_PATH_LENGTH


class CheckpointQuerySet(models.QuerySet["Checkpoint"]):
    def visible_to(self, caller: Caller) -> Self:
        return self if caller.projects is None else self.filter(project__in=caller.projects)

    def tagged(self, tags: Sequence[str]) -> Self:
        """Return the checkpoints that have all of the tags."""
        return self.filter(tags__contains=list(tags)) if tags else self


class Checkpoint(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="checkpoints")
    project_path = models.CharField(
        max_length=MAX_PATH_LENGTH, help_text="The folder that was worked in"
    )
    summary = models.CharField(max_length=500)
    description = models.TextField(max_length=5000, blank=True)
    context = models.JSONField(default=dict, blank=True)
    tags = ArrayField(models.CharField(max_length=50), default=list, blank=True, size=20)
    token_count = models.PositiveIntegerField(editable=False)
    created_by = models.CharField(max_length=100, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = CheckpointQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["project", "-created_at"], name="checkpoint_newest"),
            models.Index(fields=["project", "-updated_at"], name="checkpoint_last_changed"),
            models.Index(fields=["-created_at", "-id"], name="checkpoint_newest_of_all"),
            models.Index(fields=["-updated_at", "-id"], name="checkpoint_last_of_all"),
            GinIndex(fields=["tags"], name="checkpoint_tags"),
        ]

    def __str__(self) -> str:
        return self.summary
