import pytest

from contextd import projects
from contextd.models import Project
from remediations.models import Remediation
from tests.conftest import Call
from tests.remediations.conftest import Save


@pytest.fixture
def two_projects(save: Save) -> tuple[Project, Project]:
    """They know one fix in common, and one each."""
    for path in ("/w/shop", "/w/store"):
        save("boom", solution="restart", project_path=path)
        save(f"only known in {path[3:]}", project_path=path)
    kept, absorbed = Project.objects.order_by("pk")
    return kept, absorbed


def test_what_both_knew_becomes_one(call: Call, two_projects: tuple[Project, Project]) -> None:
    kept, absorbed = two_projects
    ours, theirs = Remediation.objects.filter(error_message="boom").order_by("pk")
    call("remediation_feedback", id=str(ours.pk), outcome="worked")
    call("remediation_feedback", id=str(theirs.pk), outcome="worked")

    projects.merge(kept, absorbed)

    one = Remediation.objects.get(error_message="boom")
    assert (one.pk, one.project, one.seen_count, one.worked) == (ours.pk, kept, 2, 2)
    assert one.last_seen_at == theirs.last_seen_at


def test_what_one_of_them_knew_is_found_in_the_kept_one(
    call: Call, two_projects: tuple[Project, Project]
) -> None:
    projects.merge(*two_projects)

    found = call("remediation_search", error_message="only known in store").results
    assert found[0].error_message == "only known in store"
    assert {one.project for one in Remediation.objects.all()} == {two_projects[0]}
    boom = call("remediation_search", error_message="boom", min_score=0.6).results
    assert len(boom) == 1
