"""Upstreams: how they are reached, their state, and what they offer."""

import re
import unicodedata
from typing import Self

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q

from contextd.encryption import Undecipherable
from contextd.models import Encrypted
from gateway import names

WORD_LENGTH = 1000
GLOB_LENGTH = 200
NAME_LENGTH = 1000
DEFAULT_STARTUP_TIMEOUT_MS = 15_000
HOUR_MS = 3_600_000
CONTAINER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]+")
PLAIN_CONTROLS = "\t\r\n"
"""Control characters that a value may contain, such as a key of several lines."""

namespace_form = RegexValidator(
    names.NAMESPACE,
    "Use up to 24 lower-case letters, digits and dashes; begin and end with no dash.",
)
setting_name = RegexValidator(
    r"^[A-Za-z_][A-Za-z0-9_-]*\Z",
    "Use letters, digits, dashes and underscores; begin with no digit.",
)

header_mapping = RegexValidator(
    r"(?i)^[a-z0-9-]+=(?!(authorization|cookie|proxy-authorization|x-mcp-context|mcp-[a-z-]*)\Z)"
    r"[a-z0-9-]+\Z",
    "Write THEIRS=OURS, two names of headers; OURS cannot be Authorization, Cookie or one of MCP.",
)

# Django's URL validator refuses hosts of a single word.
web_address = RegexValidator(
    r"(?i)^https?://([^\s/?#@\[\]:]+|\[[0-9a-f:.]+\])(:\d{1,5})?([/?][^\s#]*)?\Z",
    "Write http(s)://HOST/PATH, without a name or password: what is secret goes into settings.",
)


def milliseconds(
    default: int, least: int, most: int, meaning: str
) -> "models.PositiveIntegerField[int, int]":
    """Create a field for a time limit of an upstream."""
    return models.PositiveIntegerField(
        default=default,
        validators=[MinValueValidator(least), MaxValueValidator(most)],
        help_text=meaning,
    )


class Transport(models.TextChoices):
    STDIO = "stdio", "stdio: a command on this machine"
    DOCKER = "docker", "docker: a command in a container"
    HTTP = "http", "http: Streamable HTTP at an address"


class Isolation(models.TextChoices):
    SHARED = "shared", "shared: one connection for all callers"
    PER_USER = "per_user", "per_user: a connection for each caller"
    PER_CALL = "per_call", "per_call: a connection for each call"


class State(models.TextChoices):
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    BACKOFF = "backoff"
    FAILED = "failed"


class UpstreamQuerySet(models.QuerySet["Upstream"]):
    def enabled(self) -> Self:
        return self.filter(is_enabled=True)


class Upstream(models.Model):
    """Another MCP server, whose features clients see under its namespace."""

    namespace = models.CharField(
        max_length=24,
        unique=True,
        validators=[namespace_form],
        help_text="Its tools are NAMESPACE:tool; it cannot be changed",
    )
    is_enabled = models.BooleanField(default=True)
    transport = models.CharField(max_length=10, choices=Transport)
    command = ArrayField(
        models.CharField(max_length=WORD_LENGTH),
        default=list,
        blank=True,
        size=100,
        help_text="stdio and docker: the program and its arguments, one a line; no shell",
    )
    working_directory = models.CharField(max_length=4096, blank=True)
    url = models.CharField(
        max_length=2000, blank=True, validators=[web_address], help_text="http: where it listens"
    )
    container = models.CharField(
        max_length=200, blank=True, help_text="docker: the name of the container"
    )
    image = models.CharField(
        max_length=500,
        blank=True,
        help_text="docker: what the container is made of where it is missing; empty: it must run",
    )
    isolation = models.CharField(
        max_length=10,
        choices=Isolation,
        blank=True,
        help_text="Empty: per_call for docker, else per_user",
    )
    gives_plain_json = models.BooleanField(
        default=False, help_text="Structured results are shown as the server words them, not YAML"
    )
    redacts_arguments = models.BooleanField(
        default=False, help_text="Credentials in arguments are replaced before they are sent"
    )
    caller_headers = ArrayField(
        models.CharField(max_length=WORD_LENGTH, validators=[header_mapping]),
        default=list,
        blank=True,
        size=20,
        help_text="http: headers of the upstream from headers of the caller, one THEIRS=OURS a "
        "line, such as X-Tenant=X-Tenant-Id; no other header of the caller is passed on",
    )
    request_timeout_ms = milliseconds(30_000, 100, 280_000, "How long one call may take")
    discovery_timeout_ms = milliseconds(15_000, 100, 280_000, "How long listing its tools may take")
    startup_timeout_ms = milliseconds(
        DEFAULT_STARTUP_TIMEOUT_MS, 100, 280_000, "How long its start may take"
    )
    heartbeat_interval_ms = milliseconds(15_000, 100, HOUR_MS, "How often it is asked to answer")
    stale_timeout_ms = milliseconds(
        30_000, 100, HOUR_MS, "How long it may be silent before it is replaced"
    )
    poll_interval_ms = milliseconds(
        300_000, 100, HOUR_MS, "How often its lists are read, in case an announcement is lost"
    )
    restart_attempts = models.PositiveSmallIntegerField(
        default=5, help_text="Failed starts in a row before it is left alone"
    )
    restart_backoff_ms = milliseconds(
        2_000, 10, HOUR_MS, "The pause after the first failed start; it doubles each time"
    )
    allowed_tools = ArrayField(
        models.CharField(max_length=GLOB_LENGTH),
        default=list,
        blank=True,
        help_text="Globs of its tools to offer, one a line; empty: all",
    )
    denied_tools = ArrayField(
        models.CharField(max_length=GLOB_LENGTH),
        default=list,
        blank=True,
        help_text="Globs of its tools never to offer, one a line",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    state = models.CharField(max_length=10, choices=State, default=State.STOPPED, editable=False)
    reason = models.TextField(blank=True, editable=False)
    next_retry_at = models.DateTimeField(null=True, editable=False)
    state_since = models.DateTimeField(auto_now_add=True)

    objects = UpstreamQuerySet.as_manager()

    class Meta:
        ordering = ["namespace"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(transport=Transport.HTTP) & ~Q(url=""))
                | (Q(transport=Transport.STDIO) & ~Q(command=[]))
                | (Q(transport=Transport.DOCKER) & ~Q(command=[]) & ~Q(container="")),
                name="upstream_reachable",
                violation_error_message=(
                    "Give stdio a command, docker a command and a container, http a URL."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.namespace

    def clean(self) -> None:
        if self._state.adding and apps.is_installed(self.namespace):
            taken = f"{self.namespace} is a prefix of contextd's own tools; choose another."
            raise ValidationError({"namespace": taken})
        if self.image and self.transport != Transport.DOCKER:
            raise ValidationError({"image": "Only docker upstreams have an image."})
        if self.container and not CONTAINER_NAME.fullmatch(self.container):
            allowed = "Docker takes letters, digits, _ . and -, beginning with a letter or digit."
            raise ValidationError({"container": allowed})
        if self.caller_headers and self.transport != Transport.HTTP:
            raise ValidationError({"caller_headers": "Only http upstreams receive headers."})

    @property
    def effective_isolation(self) -> Isolation:
        """Return the chosen isolation, else the transport's default."""
        if self.isolation:
            return Isolation(self.isolation)
        is_docker = self.transport == Transport.DOCKER
        return Isolation.PER_CALL if is_docker else Isolation.PER_USER


class UpstreamSetting(Encrypted):
    """An environment variable or, for http, a header; nothing else is passed to the upstream."""

    upstream = models.ForeignKey(Upstream, models.CASCADE, related_name="settings")
    name = models.CharField(max_length=100, validators=[setting_name])

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["upstream", "name"],
                name="upstream_setting_once",
                violation_error_message="It has a setting of this name.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        try:
            value = self.value
        except Undecipherable:  # reported where it is used
            return
        if any(unicodedata.category(one) == "Cc" for one in value if one not in PLAIN_CONTROLS):
            raise ValidationError({"value": f"The value of {self.name} has control characters."})


class Kind(models.TextChoices):
    TOOL = "tool"
    PROMPT = "prompt"
    RESOURCE = "resource"
    TEMPLATE = "template"


class UpstreamFeatureQuerySet(models.QuerySet["UpstreamFeature"]):
    def offered(self, *kinds: Kind) -> Self:
        """Return the features that clients see: present, approved, and of an enabled upstream."""
        return self.filter(
            kind__in=kinds,
            upstream__is_enabled=True,
            is_present=True,
            is_allowed=True,
            definition=F("approved"),
        ).select_related("upstream")


class UpstreamFeature(models.Model):
    """A tool, prompt or resource as its upstream describes it, and as it was approved.

    It is held back while the two differ. The first description is approved automatically
    unless it is suspicious.
    """

    upstream = models.ForeignKey(Upstream, models.CASCADE, related_name="features")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.TOOL)
    name = models.CharField(max_length=NAME_LENGTH, help_text="Of a resource: its address there")
    wire_name = models.CharField(
        max_length=NAME_LENGTH + 50, help_text="What clients are told; of a resource: its address"
    )
    definition = models.JSONField()
    approved = models.JSONField(null=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of what is approved, else empty")
    suspicions = ArrayField(models.TextField(), default=list)
    is_present = models.BooleanField(default=True, help_text="The upstream listed it last time")
    is_allowed = models.BooleanField(
        default=True, help_text="The filter of the upstream lets it by"
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = UpstreamFeatureQuerySet.as_manager()

    class Meta:
        ordering = ["kind", "wire_name"]
        constraints = [
            models.UniqueConstraint(
                fields=["upstream", "kind", "name"], name="upstream_feature_once"
            ),
            models.UniqueConstraint(fields=["kind", "wire_name"], name="upstream_wire_name_once"),
        ]

    def __str__(self) -> str:
        if self.kind in (Kind.RESOURCE, Kind.TEMPLATE):
            return self.wire_name
        return names.canonical(self.upstream.namespace, self.name)

    @property
    def is_quarantined(self) -> bool:
        return bool(self.definition != self.approved)


class UpstreamEvent(models.Model):
    """A change of an upstream's state, for its administrator."""

    upstream = models.ForeignKey(Upstream, models.CASCADE, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=10, choices=State)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.state}: {self.reason}" if self.reason else self.state

    @property
    def first_line(self) -> str:
        return str(self).partition("\n")[0]
