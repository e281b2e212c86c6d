"""Use a skill, and count its uses."""

import logging
from contextlib import suppress
from dataclasses import dataclass

from django.db import DatabaseError
from django.db.models import F
from django.db.models.functions import Now

from contextd import limits, notes
from contextd.callers import Caller
from contextd.errors import TimedOut
from skills import services, serving
from skills.models import Skill, SkillUse

COUNTING_SECONDS = 2
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
    """Return False if the skill is deleted. An outcome may follow a use already counted."""
    counts = {"usage_count": 1, "success_count": success is True, "failure_count": success is False}
    more = {name: F(name) + int(number) for name, number in counts.items()}
    of_all = Skill.objects.filter(pk=skill.pk)
    if not of_all.update(**more):  # locks the skill before its uses, as a deletion does
        return False
    use, _ = SkillUse.objects.get_or_create(skill=skill, principal=caller.principal)
    if success is not None and use.usage_count > use.success_count + use.failure_count:
        of_all.update(usage_count=F("usage_count") - 1)
        del more["usage_count"]
    SkillUse.objects.filter(pk=use.pk).update(**more, last_used_at=Now())
    return True
