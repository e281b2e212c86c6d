"""Using a skill, and what is counted of that."""

import logging
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
    """The skill to follow; counted as a use, with how it ended where that is told."""
    skill = services.get(caller, skill_id)
    notes.rated(helped=success is not False)
    files = serving.files_of(skill, skill.version)
    if not count(caller, skill, success):
        return Applied(skill, files, NOT_COUNTED)
    skill.refresh_from_db(fields=["usage_count", "success_count", "failure_count"])
    return Applied(skill, files, None)


def count(caller: Caller, skill: Skill, success: bool | None) -> bool:
    """Whether that worked; that it did not is logged."""
    counts = {"usage_count": 1, "success_count": success is True, "failure_count": success is False}
    more = {name: F(name) + int(number) for name, number in counts.items()}
    try:
        with limits.deadline(COUNTING_SECONDS), limits.transaction():
            Skill.objects.filter(pk=skill.pk).update(**more)
            use, _ = SkillUse.objects.get_or_create(skill=skill, principal=caller.principal)
            SkillUse.objects.filter(pk=use.pk).update(**more, last_used_at=Now())
    except (DatabaseError, TimedOut) as error:
        logger.warning("a use of skill %s is not counted: %s", skill.pk, type(error).__name__)
        return False
    return True
