"""Use a skill, and count its uses."""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from django.db import DatabaseError
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from contextd import limits, notes
from contextd.callers import Caller
from contextd.errors import TimedOut
from skills import services, serving
from skills.models import Skill, SkillUse

COUNTING_SECONDS = 2
RATED_WITHIN = timedelta(hours=12)
"""After the last use by the same caller, within which an outcome belongs to one before."""
NOT_COUNTED = "This use could not be counted."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Applied:
    skill: Skill
    files: list[str]
    notice: str | None


def apply(caller: Caller, skill_id: str, success: bool | None) -> Applied:
    """Return the skill to follow, and count the use with its outcome, if reported."""
    skill = services.get(caller, skill_id)
    notes.rated(helped=success is not False)
    files = serving.files_of(skill, skill.version)
    if not count(caller, skill, success):
        return Applied(skill, files, NOT_COUNTED)
    with suppress(DatabaseError, Skill.DoesNotExist):  # then return the former counts
        skill.refresh_from_db(fields=["usage_count", "success_count", "failure_count"])
    return Applied(skill, files, None)


def count(caller: Caller, skill: Skill, success: bool | None) -> bool:
    """Count a use; return whether that worked, and log a failure."""
    try:
        with limits.deadline(COUNTING_SECONDS), limits.transaction():
            return _count(caller, skill, success)
    except (DatabaseError, TimedOut) as error:
        logger.warning("a use of skill %s is not counted: %s", skill.pk, type(error).__name__)
        return False


def _count(caller: Caller, skill: Skill, success: bool | None) -> bool:
    """Return False if the skill is deleted. An outcome may follow a recent use already counted."""
    counts = {"usage_count": 1, "success_count": success is True, "failure_count": success is False}
    more = {name: F(name) + int(number) for name, number in counts.items()}
    of_all = Skill.objects.filter(pk=skill.pk)
    if not of_all.update(**more):  # locks the skill before its uses, as a deletion does
        return False
    use, _ = SkillUse.objects.get_or_create(skill=skill, principal=caller.principal)
    unrated = use.unrated_count if timezone.now() - use.last_used_at < RATED_WITHIN else 0
    if success is None:
        unrated += 1
    elif unrated:
        unrated -= 1
        of_all.update(usage_count=F("usage_count") - 1)
        del more["usage_count"]
    SkillUse.objects.filter(pk=use.pk).update(**more, unrated_count=unrated, last_used_at=Now())
    return True
