from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import NotFound
from skills.models import Skill, SkillUse
from tests.conftest import Call
from tests.skills.conftest import Create


def test_the_instructions_are_returned_and_the_use_is_counted(call: Call, create: Create) -> None:
    skill = create("one", content="Do it", prerequisites=["p"], expected_outcome="done")

    applied = call("skill_apply", id=skill)
    assert (applied.id, applied.name, applied.content) == (skill, "one", "Do it")
    assert (applied.prerequisites, applied.expected_outcome) == (["p"], "done")
    assert (applied.usage_count, applied.success_rate, applied.rated_count) == (1, 0.0, 0)
    assert (applied.version, applied.files, applied.notice) == ("1.0.0", [], None)


def test_success_and_failure_make_the_rate(call: Call, create: Create) -> None:
    skill = create("one")
    for success in (True, True, False, None):
        applied = call("skill_apply", id=skill, success=success)

    assert (applied.usage_count, applied.rated_count) == (4, 3)
    assert applied.success_rate == pytest.approx(2 / 3)


def test_how_a_use_ended_is_told_later_and_counts_no_other(
    call: Call, create: Create, caller: Caller
) -> None:
    skill = create("one")
    for success in (None, None, True):
        applied = call("skill_apply", id=skill, success=success)
    assert (applied.usage_count, applied.rated_count) == (2, 1)
    bob = Caller(principal="user:7", door="mcp", entry=caller.entry)
    pipeline.call("skill_apply", {"id": skill, "success": True}, bob)
    for success in (False, False):
        applied = call("skill_apply", id=skill, success=success)

    assert (applied.usage_count, applied.rated_count) == (4, 4)
    uses = SkillUse.objects.values_list("principal", "usage_count", "success_count")
    assert sorted(uses) == [("tester", 3, 1), ("user:7", 1, 1)]


def test_an_outcome_is_not_that_of_a_use_long_ago(call: Call, create: Create) -> None:
    skill = create("one")
    call("skill_apply", id=skill)
    SkillUse.objects.update(last_used_at=timezone.now() - timedelta(hours=13))

    applied = call("skill_apply", id=skill, success=True)
    assert (applied.usage_count, applied.rated_count) == (2, 1)
    applied = call("skill_apply", id=skill, success=True)
    assert (applied.usage_count, applied.rated_count) == (3, 2)
    for success in (None, False):
        applied = call("skill_apply", id=skill, success=success)
    assert (applied.usage_count, applied.rated_count) == (4, 3)


def test_who_uses_what_is_known(call: Call, create: Create, caller: Caller) -> None:
    skill = create("one")
    call("skill_apply", id=skill, success=False)
    call("skill_apply", id=skill)
    bob = Caller(principal="user:7", door="mcp", entry=caller.entry)
    pipeline.call("skill_apply", {"id": skill, "success": True}, bob)

    uses = SkillUse.objects.values_list(
        "principal", "usage_count", "success_count", "failure_count"
    )
    assert sorted(uses) == [("tester", 2, 0, 1), ("user:7", 1, 1, 0)]


@pytest.fixture
def counting_fails(transactional_db: None) -> Iterator[None]:
    """The database refuses to count."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE skills_skill ADD CONSTRAINT never CHECK (usage_count = 0) NOT VALID"
        )
        yield
        cursor.execute("ALTER TABLE skills_skill DROP CONSTRAINT never")


def test_a_count_that_fails_does_not_fail_the_call(
    call: Call, create: Create, counting_fails: None
) -> None:
    skill = create("one", content="Do it")

    applied = call("skill_apply", id=skill, success=True)
    assert applied.content == "Do it"
    assert applied.notice == "This use could not be counted."
    assert (Skill.objects.get().usage_count, SkillUse.objects.count()) == (0, 0)


def test_what_is_not_there_cannot_be_used(call: Call) -> None:
    with pytest.raises(NotFound, match="there is no skill with id '7'"):
        call("skill_apply", id="7")
