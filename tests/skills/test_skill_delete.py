import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import NotAllowed, NotFound
from contextd.search.models import Passage
from skills.models import Skill, SkillFile, SkillUse, SkillVersion
from skills.usage import NOT_COUNTED
from tests.conftest import Call
from tests.skills.conftest import Create


def test_it_is_gone_from_everywhere_at_once(call: Call, create: Create) -> None:
    skill, kept = create("zeppelin"), create("submarine")
    call("skill_update", id=skill, content="x")
    call("skill_apply", id=skill, success=True)

    deleted = call("skill_delete", id=skill)

    assert (deleted.id, deleted.message) == (skill, f"skill {skill} is deleted")
    assert [one.id for one in call("skill_search", query="zeppelin").results] == [kept]
    assert [one.id for one in call("skill_list").skills] == [kept]
    assert {passage.record_id for passage in Passage.objects.all()} == {int(kept)}
    for model in (SkillVersion, SkillFile, SkillUse):
        assert not model.objects.filter(skill=int(skill)).exists()
    for name in ("skill_get", "skill_history", "skill_apply", "skill_delete"):
        with pytest.raises(NotFound):
            call(name, id=skill)
    assert Skill.objects.count() == 1


def test_where_the_context_asks_for_review_only_curators_delete(
    call: Call, create: Create, reviewed: Caller, curator: Caller
) -> None:
    skill = create("one")

    with pytest.raises(NotAllowed, match="only a curator retires or deletes skills, in the admin"):
        pipeline.call("skill_delete", {"id": skill}, reviewed)
    assert call("skill_get", id=skill).name == "one"
    by = dataclasses.replace(reviewed, is_curator=True)
    pipeline.call("skill_delete", {"id": skill}, by)
    assert not Skill.objects.exists()


def test_the_skill_is_locked_first(call: Call, create: Create) -> None:
    skill = create("one")

    with CaptureQueriesContext(connection) as asked:
        call("skill_delete", id=skill)
    locking = [one["sql"] for one in asked.captured_queries if "FOR UPDATE" in one["sql"]]
    assert 'FROM "skills_skill"' in locking[0]


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def test_a_use_while_it_is_deleted_is_not_counted(call: Call, create: Create) -> None:
    skill = create("one")

    def apply() -> Any:
        try:
            return call("skill_apply", id=skill)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic(), connection.cursor() as cursor:
            call("skill_delete", id=skill)
            applied = pool.submit(apply)
            waiting = 0
            while not waiting and not applied.done():
                cursor.execute(WAITING)
                (waiting,) = cursor.fetchone()
        assert applied.result().notice == NOT_COUNTED

    assert not SkillUse.objects.exists()


def test_its_name_is_free_again(call: Call, create: Create) -> None:
    call("skill_delete", id=create("one"))

    create("one")
    assert call("skill_list").total == 1
