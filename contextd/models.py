"""What the kernel stores: projects."""

from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Self, TypeVar

from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models.functions import MD5, Length

from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.validation import MAX_PATH_LENGTH

MAX_ID_DIGITS = 18


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, caller: Caller) -> Self:
        return self if caller.projects is None else self.filter(pk__in=caller.projects)


class Project(models.Model):
    """One code base, wherever its clones and work trees lie."""

    name = models.CharField(max_length=200)
    git_remote = models.CharField(
        max_length=500,
        unique=True,
        null=True,
        blank=True,
        help_text="host/path of the origin remote, such as github.com/acme/shop",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ProjectPathQuerySet(models.QuerySet["ProjectPath"]):
    def containing(self, path: str) -> Self:
        """The aliases that hold `path`, the longest first."""
        pure: PurePath = (PureWindowsPath if PureWindowsPath(path).drive else PurePosixPath)(path)
        candidates = [str(pure), *map(str, pure.parents)]
        return self.filter(path__in=candidates).order_by(Length("path").desc())


class ProjectPath(models.Model):
    """A folder that belongs to a project, with all that is below it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="paths")
    path = models.CharField(max_length=MAX_PATH_LENGTH)

    objects = ProjectPathQuerySet.as_manager()

    class Meta:
        ordering = ["path"]
        indexes = [HashIndex(fields=["path"], name="project_path")]
        constraints = [
            models.UniqueConstraint(
                MD5("path"),  # a path may be longer than an index entry
                name="project_path_once",
                violation_error_message="This folder belongs to another project already.",
            )
        ]

    def __str__(self) -> str:
        return self.path


Record = TypeVar("Record", bound=models.Model)


def get_record(records: "models.QuerySet[Record]", record_id: str) -> Record:
    """The record with that public id, or NotFound."""
    found = None
    if record_id.isascii() and record_id.isdigit() and len(record_id) <= MAX_ID_DIGITS:
        found = records.filter(pk=int(record_id)).first()
    if found is None:
        kind = records.model._meta.verbose_name
        raise NotFound(f"there is no {kind} with id {record_id!r}", id=record_id)
    return found
