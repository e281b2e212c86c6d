"""The official suite against the server as it is served; `make conformance` prints more of it."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from tests.conformance import report
from tests.conformance.suite import RUNS, Outcome, conduct
from tests.node import needs_node
from tests.server import environment_of_processes, web_process

pytestmark = [needs_node, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def skills(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Import the skill that the scenarios of the skills extension use."""
    with django_db_blocker.unblock():
        call_command("skills", "import", report.SKILLS, stdout=StringIO())
    yield
    with django_db_blocker.unblock():
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture(scope="module")
def outcomes(skills: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Outcome]]:
    environment = {**environment_of_processes(), "DJANGO_SETTINGS_MODULE": report.SETTINGS}
    log = tmp_path_factory.mktemp("conformance") / "log"
    with web_process(environment, log) as server:
        yield [conduct(run, f"{server.url}/mcp") for run in RUNS]


@pytest.mark.parametrize("number", range(len(RUNS)), ids=[run.title for run in RUNS])
def test_every_scenario_passes(outcomes: list[Outcome], number: int) -> None:
    outcome = outcomes[number]

    assert [scenario for scenario in outcome.scenarios if scenario.failed] == []
    assert outcome.is_whole, outcome.output


def test_the_page_says_what_the_suite_found(outcomes: list[Outcome]) -> None:
    """Run `make conformance` to write it again."""
    assert report.PAGE.read_text(encoding="utf-8") == report.page(outcomes)
