"""The skills that ship."""

import io
import re
from pathlib import Path

import pytest
from django.core.management import call_command

from contextd import operations
from skills import sources, transfer
from tests.conftest import Call

FOUND = sources.skills_at(transfer.STARTER)
NAMES = [one.place for one in FOUND]


TASKS = {
    "the test is red now and then on CI": "Fix a flaky test",
    "rename a column without downtime": "Migrate a live database",
    "production is down, users get 500": "Handle an incident",
    "publish version 2.0 of the library": "Cut a release",
    "requests have become slow since yesterday": "Find a performance regression",
    "look at this pull request": "Review a change",
}


def test_they_are_loaded_when_asked_and_found_by_what_is_to_be_done(call: Call) -> None:
    assert call("skill_list").total == 0
    for _ in range(2):
        call_command("skills", "import", "--starter", stdout=io.StringIO())

    page = call("skill_list", limit=100)
    assert page.total == 12
    assert {skill.version for skill in page.skills} == {"1.0.0"}
    assert all(skill.expected_outcome for skill in page.skills)
    for task, name in TASKS.items():
        found = call("skill_search", query=task, top_k=2)
        assert name in [match.name for match in found.results]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_good(name: str) -> None:
    (one,) = (one for one in FOUND if one.place == name)
    assert one.problems == []
    assert one.package is not None
    content = one.package.document.content
    files = {file.path for file in one.package.files}
    assert set(re.findall(r"\]\((?!https?:)([^)]+)\)", content)) <= files
    tools = {operation.name for operation in operations.installed()}
    assert set(re.findall(r"`((?:skill|checkpoint|remediation)_[a-z]+)`", content)) <= tools
    assert len(content) > 2000
    folder = Path(transfer.STARTER / name)
    assert {path.name for path in folder.iterdir()} <= {
        "SKILL.md",
        "assets",
        "references",
        "scripts",
    }
