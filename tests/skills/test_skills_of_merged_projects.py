from contextd import projects
from contextd.models import Project
from skills.models import Skill
from tests.conftest import Call
from tests.skills.conftest import Create


def test_skills_of_one_name_both_stay(call: Call, create: Create) -> None:
    ours = create("Release", project_path="/w/shop", content="ours")
    theirs = create("Release", project_path="/w/store", content="theirs")
    other = create("Review", project_path="/w/store")
    create("Release")

    kept = Project.objects.get(paths__path="/w/shop")
    projects.merge(kept, Project.objects.get(paths__path="/w/store"))

    now = {str(skill.pk): skill for skill in Skill.objects.filter(project=kept)}
    assert now.keys() == {ours, theirs, other}
    assert (now[ours].name, now[ours].content) == ("Release", "ours")
    assert (now[theirs].name, now[theirs].content) == (f"Release {theirs}", "theirs")
    assert now[theirs].front_matter["name"] == now[theirs].slug == f"release-{theirs}"
    assert now[other].version == "1.0.0"
    assert call("skill_search", query="theirs").results[0].id == theirs
    note = call("skill_history", id=theirs).versions[0].note
    assert note == "renamed, since shop has one of that name"
