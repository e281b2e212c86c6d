"""Skills: proven workflows to reuse, with all their versions."""

from collections.abc import Sequence
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Cast, Greatest, Sqrt

from contextd.callers import Caller
from contextd.models import Project

Z = 1.96
"""The standard score of a 95 % confidence interval."""


class State(models.TextChoices):
    DRAFT = "draft", "draft: nobody but curators sees it"
    PUBLISHED = "published", "published: assistants find and use it"
    RETIRED = "retired", "retired: kept, and used no more"


class Worded(models.Model):
    """The wording of one version of a skill."""

    name = models.CharField(max_length=200)
    slug = models.CharField(
        max_length=64, editable=False, help_text="Its name in files, addresses and prompts"
    )
    description = models.TextField(max_length=2000)
    content = models.TextField(max_length=50_000)
    version = models.CharField(max_length=64)
    author = models.CharField(max_length=200)
    category = models.CharField(max_length=50)
    prerequisites = ArrayField(models.CharField(max_length=200), default=list, blank=True, size=100)
    expected_outcome = models.TextField(max_length=1000, blank=True)
    tags = ArrayField(models.CharField(max_length=50), default=list, blank=True, size=20)
    metadata = models.JSONField(default=dict, blank=True)
    front_matter = models.JSONField(
        default=dict, editable=False, help_text="All that stands above the text of its SKILL.md"
    )

    class Meta:
        abstract = True


class SkillQuerySet(models.QuerySet["Skill"]):
    def visible_to(self, caller: Caller) -> Self:
        """Return published skills, and for curators also the others."""
        seen = self if caller.is_curator else self.published()
        if caller.projects is None:
            return seen
        return seen.filter(Q(project=None) | Q(project__in=caller.projects))

    def published(self) -> Self:
        return self.filter(state=State.PUBLISHED)

    def in_category(self, category: str | None) -> Self:
        return self.filter(category=category) if category else self

    def tagged(self, tags: Sequence[str]) -> Self:
        """Return the skills that have all of the tags."""
        return self.filter(tags__contains=list(tags)) if tags else self

    def with_proposals(self) -> Self:
        """Return the skills with a change that waits for a review."""
        waiting = SkillVersion.objects.filter(skill=OuterRef("pk"), is_proposal=True)
        return self.filter(Exists(waiting))


def _lower_bound_of_success() -> models.Expression:
    """Return Wilson's bound at 95 %: 1 of 1 is 0.21, 95 of 100 is 0.89, unrated is 0."""
    worked = Cast(F("success_count"), models.FloatField())
    failed = Cast(F("failure_count"), models.FloatField())
    uses, square = worked + failed, Z * Z
    spread = Sqrt(worked * failed / Greatest(uses, 1.0) + square / 4)
    bound: models.Expression = (worked + square / 2 - Z * spread) / (uses + square)
    return bound


class Skill(Worded):
    """A skill: its current wording, state and counts of use."""

    project = models.ForeignKey(
        Project,
        models.CASCADE,
        related_name="skills",
        null=True,
        blank=True,
        help_text="Without a project all may use it",
    )
    state = models.CharField(max_length=9, choices=State, default=State.PUBLISHED)
    token_count = models.PositiveIntegerField(editable=False)
    usage_count = models.PositiveIntegerField(default=0, editable=False)
    success_count = models.PositiveIntegerField(default=0, editable=False)
    failure_count = models.PositiveIntegerField(default=0, editable=False)
    proven = models.GeneratedField(
        expression=_lower_bound_of_success(),
        output_field=models.FloatField(),
        db_persist=True,
        help_text="The success rate it has at least, by what was told so far",
    )
    created_by = models.CharField(max_length=100, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(
        auto_now_add=True, help_text="When it last said something else, or changed its state"
    )

    objects = SkillQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "project"], nulls_distinct=False, name="skill_once"
            )
        ]
        indexes = [
            models.Index(fields=["-created_at"], name="skill_newest"),
            models.Index(fields=["-updated_at"], name="skill_last_changed"),
            models.Index(fields=["-usage_count"], name="skill_most_used"),
            models.Index(fields=["-proven"], name="skill_most_proven"),
            models.Index(fields=["category"], name="skill_category"),
            GinIndex(fields=["tags"], name="skill_tags"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def rated_count(self) -> int:
        """Return the number of uses with a reported outcome."""
        return self.success_count + self.failure_count

    @property
    def success_rate(self) -> float:
        return self.success_count / self.rated_count if self.rated_count else 0.0


class SkillFile(models.Model):
    """One revision of a file; versions of a skill share unchanged files."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="files")
    path = models.CharField(max_length=500, help_text="Within the folder of the skill")
    content = models.BinaryField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content")
    size = models.PositiveIntegerField()
    is_executable = models.BooleanField(default=False)

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(
                fields=["skill", "path", "digest", "is_executable"], name="skill_file_once"
            )
        ]

    def __str__(self) -> str:
        return self.path


class SkillVersionQuerySet(models.QuerySet["SkillVersion"]):
    def visible_to(self, caller: Caller) -> Self:
        """Return accepted versions, and for curators also the proposals."""
        return self if caller.is_curator else self.filter(is_proposal=False)


class SkillVersion(Worded):
    """The wording of a skill as of a version: since when, by whom and why."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="versions")
    files = models.ManyToManyField(SkillFile, related_name="versions")
    changed_by = models.CharField(max_length=100)
    note = models.CharField(max_length=500, blank=True)
    is_proposal = models.BooleanField(
        default=False, help_text="Waits for a curator; the skill still says what it said before"
    )
    is_imported = models.BooleanField(
        default=False, editable=False, help_text="Its files are those of a folder that was imported"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SkillVersionQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["skill", "version"], name="skill_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class SkillUse(models.Model):
    """How often a principal used a skill, and with what success."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="uses")
    principal = models.CharField(max_length=200)
    usage_count = models.PositiveIntegerField(default=0)
    success_count = models.PositiveIntegerField(default=0)
    failure_count = models.PositiveIntegerField(default=0)
    unrated_count = models.PositiveIntegerField(
        default=0, editable=False, help_text="Recent uses whose outcome may still be reported"
    )
    last_used_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-last_used_at"]
        constraints = [
            models.UniqueConstraint(fields=["skill", "principal"], name="skill_use_once")
        ]

    def __str__(self) -> str:
        return f"{self.principal} used {self.skill_id}"
