import pytest

from contextd.errors import NotFound
from contextd.search.models import Passage
from skills.models import Skill, SkillFile, SkillUse, SkillVersion
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


def test_its_name_is_free_again(call: Call, create: Create) -> None:
    call("skill_delete", id=create("one"))

    create("one")
    assert call("skill_list").total == 1
