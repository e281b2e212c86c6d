"""Who may use what: contexts, grants, access tokens, and the record of what was called."""

import hashlib
from typing import Self, get_args

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from contextd.callers import DEFAULT_CONTEXT, Caller, Door
from contextd.models import Encrypted, OfCallersQuerySet, Project

OUTCOMES = [
    "ok", "validation", "not_found", "unauthorized", "rate_limited", "timeout", "internal"
]  # fmt: skip
MAX_NAME_LENGTH = 64
MAX_GLOB_LENGTH = 200

context_name = RegexValidator(
    r"^[a-z0-9][a-z0-9._-]*\Z", "Use lower-case letters, digits, dots, dashes and underscores."
)
variable_name = RegexValidator(
    r"^[A-Za-z_][A-Za-z0-9_]*\Z", "Use letters, digits and underscores; do not begin with a digit."
)


class Permission(models.TextChoices):
    """Permissions on a context; each includes the ones before it."""

    READ = "read", "read: use what only reads"
    EXECUTE = "execute", "execute: use everything in it"
    MANAGE = "manage", "manage: use everything and change the context"


def globs_of(what: str, example: str) -> "ArrayField[list[str], list[str]]":
    return ArrayField(
        models.CharField(max_length=MAX_GLOB_LENGTH),
        default=list,
        blank=True,
        help_text=f"{what} or globs, such as {example}, separated by commas; empty: none",
    )


class ContextQuerySet(models.QuerySet["Context"]):
    def managed_by(self, user_id: int) -> Self:
        """Return the contexts where the user, or a group of theirs, has the grant `manage`."""
        managing = Grant.objects.filter(
            Q(user=user_id) | Q(group__user=user_id), permission=Permission.MANAGE
        )
        return self.filter(pk__in=managing.values("context"))


class Context(models.Model):
    """What a caller may see and use; the header X-MCP-Context chooses one."""

    name = models.CharField(max_length=MAX_NAME_LENGTH, unique=True, validators=[context_name])
    description = models.TextField(max_length=1000, blank=True)
    is_active = models.BooleanField(
        default=True, help_text="Off: it is treated as if it did not exist"
    )
    is_open = models.BooleanField(
        default=False, help_text="Everybody with an account may execute in it, without a grant"
    )
    tools = globs_of("Names of tools", "checkpoint_*")
    resources = globs_of("URIs of resources", "checkpoint://*")
    prompts = globs_of("Names of prompts", "review_*")
    all_projects = models.BooleanField(default=False, help_text="It contains every project")
    projects = models.ManyToManyField(
        Project,
        blank=True,
        related_name="contexts",
        help_text="Projects whose records are visible in it; none: only shared knowledge",
    )
    needs_review = models.BooleanField(
        default=False,
        help_text="Skills and other instructions that assistants create or change in it "
        "wait until a person has published them",
    )
    calls_per_second = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="For each connection and tool; empty: the tool's own rate"
    )
    calls_at_once = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Maximum number in one burst"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ContextQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(calls_per_second__isnull=True, calls_at_once__isnull=True)
                | Q(
                    calls_per_second__isnull=False,
                    calls_per_second__gte=1,
                    calls_at_once__isnull=False,
                    calls_at_once__gte=1,
                ),
                name="context_rate_whole",
                violation_error_message="Give both numbers of the rate, at least 1, or neither.",
            ),
            models.CheckConstraint(
                condition=~Q(name=DEFAULT_CONTEXT) | Q(is_active=True),
                name="context_default_stays",
                violation_error_message=(
                    "Requests that name no context use this one, and so does the admin. "
                    "To keep people out, close it: then they need a grant."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Grant(models.Model):
    """Lets a user, or all members of a group, use a context."""

    context = models.ForeignKey(Context, models.CASCADE, related_name="grants")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="grants"
    )
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="grants")
    permission = models.CharField(
        max_length=10, choices=Permission.choices, default=Permission.EXECUTE
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["context", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=True, group__isnull=False)
                | Q(user__isnull=False, group__isnull=True),
                name="grant_to_one",
                violation_error_message="Choose a user or a group, and not both.",
            ),
            models.UniqueConstraint(
                fields=["context", "user", "group"],
                nulls_distinct=False,
                name="grant_once",
                violation_error_message="There is already a grant for them; change that one.",
            ),
        ]

    def __str__(self) -> str:
        holder = self.user if self.user_id else f"group {self.group}"
        return f"{holder} may {self.permission} in {self.context}"


class Variable(Encrypted):
    """A value that only the tools of a context can read."""

    context = models.ForeignKey(Context, models.CASCADE, related_name="variables")
    name = models.CharField(max_length=100, validators=[variable_name])
    is_secret = models.BooleanField(default=True, help_text="Never shown again once it is saved")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["context", "name"],
                name="variable_once",
                violation_error_message="The context already has a variable of this name.",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Token(models.Model):
    """A bearer token of a user. Only its digest is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="Where it is used, such as 'laptop'")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False, help_text="Its first characters")
    is_read_only = models.BooleanField(
        default=False, help_text="It can only read, whatever its user may do"
    )
    all_contexts = models.BooleanField(
        default=True, help_text="It can be used in every context that its user may use"
    )
    contexts = models.ManyToManyField(
        Context, blank=True, related_name="+", help_text="Otherwise only in these"
    )
    default_context = models.ForeignKey(
        Context,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Context of requests that name none; empty: 'default'",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


def digest_of(secret: str) -> str:
    """Return the SHA-256: the secret is 256 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()


class AuditEntryQuerySet(OfCallersQuerySet):
    def visible_to(self, caller: Caller) -> Self:
        return self.of_caller(caller)


class AuditEntry(models.Model):
    """One call, or one attempt to enter a context: who, what, where, and how it ended."""

    at = models.DateTimeField(db_default=Now(), db_index=True)
    principal = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    operation = models.CharField(
        max_length=150, help_text="'-': refused before an operation was called"
    )
    context = models.CharField(max_length=MAX_NAME_LENGTH)
    door = models.CharField(max_length=10, choices=[(door, door) for door in get_args(Door)])
    client = models.CharField(max_length=100)
    connection = models.CharField(max_length=200)
    outcome = models.CharField(max_length=20, choices=[(word, word) for word in OUTCOMES])
    was_allowed = models.BooleanField()
    milliseconds = models.FloatField()

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        ordering = ["-at"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["operation", "-at"], name="audit_of_operation")]

    def __str__(self) -> str:
        return f"{self.principal}: {self.operation}: {self.outcome}"
