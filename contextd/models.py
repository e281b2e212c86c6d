"""What the kernel stores: projects, sessions of MCP clients, jobs, and what ships in files."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.conf import settings
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import MD5, Length
from django.utils import timezone

from contextd import encryption, notes
from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.validation import MAX_PATH_LENGTH, parse_digits, pure_path


class Encrypted(models.Model):
    """Text that is stored encrypted and can be read back."""

    ciphertext = models.TextField(editable=False)

    class Meta:
        abstract = True

    @property
    def value(self) -> str:
        """The plain text; raises encryption.Undecipherable."""
        return encryption.decrypt(self.ciphertext)

    @value.setter
    def value(self, text: str) -> None:
        self.ciphertext = encryption.encrypt(text)


class OfCallersQuerySet(models.QuerySet[Any]):
    """Queries of rows about single calls, with a principal and a context."""

    def of_caller(self, caller: Caller) -> Self:
        """Return the caller's own rows; with `manage` those of its context; locally all."""
        if caller.is_local:
            return self
        if caller.entry.permission == "manage":
            return self.filter(context=caller.context)
        return self.filter(principal=caller.principal)


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, caller: Caller) -> Self:
        return self if caller.projects is None else self.filter(pk__in=caller.projects)

    def labels(self) -> dict[int, str]:
        """Return names by id; those of several projects with the git remote, else the id."""
        rows = list(self.values_list("pk", "name", "git_remote"))
        names = Counter(name for _, name, _ in rows)
        return {
            pk: name if names[name] == 1 else f"{name} ({remote or pk})"
            for pk, name, remote in rows
        }


class Project(models.Model):
    """One code base, wherever its clones and work trees are."""

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
        """Return the aliases that contain `path`, the longest first."""
        pure = pure_path(path)
        candidates = [str(pure), *map(str, pure.parents)]
        return self.filter(path__in=candidates).order_by(Length("path").desc())


class ProjectPath(models.Model):
    """A folder that belongs to a project, with everything below it."""

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


class SessionQuerySet(models.QuerySet["Session"]):
    def seen_since(self, moment: datetime) -> Self:
        return self.filter(last_seen_at__gte=moment)

    def unseen_since(self, moment: datetime) -> Self:
        return self.filter(last_seen_at__lt=moment)

    def surplus_of(self, principal: str, most: int, interval: timedelta) -> Self:
        """Return a principal's sessions except `most` of them: lasting ones, then the newest ones.

        A lasting one has been used for longer than the `interval` at which use is recorded, and
        still is. Otherwise many short sessions would end it, each of which was seen later.
        """
        is_lasting = Q(last_seen_at__gt=F("created_at") + interval) & Q(
            last_seen_at__gt=timezone.now() - 2 * interval
        )
        ranked = self.filter(principal=principal).annotate(
            is_lasting=Case(When(is_lasting, then=True), default=False)
        )
        return ranked.order_by("-is_lasting", "-last_seen_at", "-created_at")[most:]


class Session(models.Model):
    """A client of MCP up to 2025-11-25, from its handshake to its end.

    Any web process can serve it from this row, which is deleted at its end.
    """

    id = models.CharField(primary_key=True, max_length=64, editable=False)
    principal = models.CharField(max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="mcp_sessions"
    )
    context = models.CharField(max_length=200)
    client_name = models.CharField(max_length=100)
    client_version = models.CharField(max_length=100)
    client_capabilities = models.JSONField()
    protocol_version = models.CharField(max_length=10)
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(
        auto_now_add=True, db_index=True, help_text="Written once a minute while it is in use"
    )

    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP session"
        ordering = ["-last_seen_at"]
        indexes = [models.Index(fields=["principal", "-last_seen_at"], name="session_of_principal")]

    def __str__(self) -> str:
        return f"{self.client_name} {self.client_version}".strip()


class Subscription(models.Model):
    """A session's subscription to changes of a resource."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="subscriptions")
    uri = models.CharField(max_length=2000)

    class Meta:
        constraints = [
            models.UniqueConstraint("session", MD5("uri"), name="subscription_once"),
        ]

    def __str__(self) -> str:
        return self.uri


class DetachedCallQuerySet(models.QuerySet["DetachedCall"]):
    def of(self, caller: Caller) -> Self:
        return self.filter(principal=caller.principal, context=caller.context)


class DetachedCall(models.Model):
    """A call whose client polls for the result: in MCP, a task."""

    class Status(models.TextChoices):
        WORKING = "working"
        INPUT_REQUIRED = "input_required"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    OPEN = (Status.WORKING, Status.INPUT_REQUIRED)

    id = models.CharField(primary_key=True, max_length=64, editable=False)
    principal = models.CharField(max_length=200)
    context = models.CharField(max_length=200)
    operation = models.CharField(max_length=100)
    arguments = models.JSONField()
    redacted = models.PositiveIntegerField(
        default=0, help_text="Number of credentials removed from the arguments"
    )
    questions = models.JSONField(
        default=dict, help_text="Questions that the person has not answered yet"
    )
    replies = models.JSONField(default=dict)
    status = models.CharField(max_length=20, choices=Status, default=Status.WORKING)
    outcome = models.JSONField(null=True, help_text="The result or the error, as it is returned")
    leased_until = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    expires_at = models.DateTimeField(db_index=True)

    objects = DetachedCallQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["principal", "status"], name="detached_call_of")]

    def __str__(self) -> str:
        return f"{self.operation} {self.pk}"


class JobQuerySet(models.QuerySet["Job"]):
    def open(self) -> Self:
        return self.filter(state__in=Job.OPEN)

    def abandoned(self) -> Self:
        """Return open jobs without a worker: it died, or the broker lost the message."""
        return self.open().filter(leased_until__lt=timezone.now())


class Job(models.Model):
    """Work for a worker, and its progress; authoritative, whatever the broker loses."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    OPEN = (State.QUEUED, State.RUNNING)

    task = models.CharField(max_length=100, help_text="The function that does it: app.tasks.name")
    key = models.CharField(
        max_length=100, help_text="Its subject: only one open job per task and key"
    )
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    holder = models.CharField(max_length=32, blank=True, help_text="Known only to its worker")
    leased_until = models.DateTimeField()
    is_unwanted = models.BooleanField(default=False, help_text="Its worker stops when it sees this")
    request_count = models.PositiveIntegerField(
        default=1, help_text="Number of requests for it that were not withdrawn"
    )
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    note = models.TextField(blank=True, help_text="Current step")
    outcome = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    created_by = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "key"],
                condition=models.Q(state__in=["queued", "running"]),
                name="job_one_at_a_time",
            )
        ]
        indexes = [models.Index(fields=["task", "key", "-created_at"], name="job_newest")]

    def __str__(self) -> str:
        return f"{self.task} {self.key}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN


class LoadedLibrary(models.Model):
    """Which files of a library were loaded last, so that a start can skip unchanged ones."""

    name = models.CharField(max_length=50, primary_key=True)
    fingerprint = models.CharField(max_length=64)

    def __str__(self) -> str:
        return self.name


class ShippedRecord(models.Model):
    """A row made from a file of the product, or written by people, who may edit both.

    The shipped part is the values of some fields as JSON; `contextd.shipped` loads them.
    """

    key = models.CharField(max_length=64, unique=True)
    shipped = models.JSONField(
        null=True, editable=False, help_text="Values from the file; null for people's own records"
    )
    offered = models.JSONField(
        null=True,
        editable=False,
        help_text="Newer values, not applied because a person had edited it",
    )
    is_retired = models.BooleanField(default=False, editable=False)

    class Meta:
        abstract = True

    @property
    def origin(self) -> str:
        """The source of its text, for people."""
        if self.is_retired:
            return "retired"
        if self.offered is not None:
            return "edited, newer text available"
        if self.shipped is None:
            return "own"
        return "edited" if self.is_edited else "as shipped"

    @property
    def is_edited(self) -> bool:
        """Whether a person has written it, or changed it since it was loaded from a file."""
        return self.shipped is None or not self.says(self.shipped)

    def says(self, values: Mapping[str, Any]) -> bool:
        """Return whether its fields have these values already."""
        return all(getattr(self, name) == value for name, value in self._typed(values).items())

    def take(self, values: Mapping[str, Any]) -> None:
        """Replace its contents with the shipped values."""
        for name, value in self._typed(values).items():
            setattr(self, name, value)
        self.shipped, self.offered, self.is_retired = dict(values), None, False

    def _typed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of fields that still exist, with their types."""
        fields = {field.name: field for field in self._meta.concrete_fields}
        return {
            name: fields[name].to_python(value) for name, value in values.items() if name in fields
        }


Record = TypeVar("Record", bound=models.Model)


def get_record(records: "models.QuerySet[Record]", record_id: str) -> Record:
    """Return the record with that public id. Raise NotFound if there is none."""
    pk = parse_digits(record_id)
    found = None if pk is None else records.filter(pk=pk).first()
    if found is None:
        kind = records.model._meta.verbose_name
        raise NotFound(f"there is no {kind} with id {record_id!r}", id=record_id)
    notes.used(str(records.model._meta.model_name), found.pk, getattr(found, "project_id", None))
    return found
