"""`python -m tests.conformance.report`: run the suite, print the totals, write the page."""

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.suite import RUNS, Outcome, conduct
from tests.node import NODE
from tests.server import ROOT, web_process

PAGE = ROOT / "docs/conformance.md"
SETTINGS = "tests.conformance.settings"
SKILLS = ROOT / "tests/conformance/skills"
INTRODUCTION = """\
# Conformance

<!-- Made by `make conformance`; a test keeps it true. -->

The [official conformance suite](https://github.com/modelcontextprotocol/conformance) of the Model
Context Protocol, run against `contextd.asgi` as it is served, with the gate, authentication,
sessions and pipeline in front. The tools, resources and prompts that the suite calls by name are in
`tests/conformance`; only the server under test installs them.

Scenarios that a revision does not score are run too. Those of the skills extension need a skill to
look at: the one in `tests/conformance/skills`.
"""


def page(outcomes: list[Outcome]) -> str:
    totals = [
        "| suite | scenarios | checks passed | checks failed |",
        "|---|---|---|---|",
        *(
            f"| {outcome.run.title} | {len(outcome.scenarios)} | {outcome.passed} | "
            f"{outcome.failed} |"
            for outcome in outcomes
        ),
    ]
    return "\n".join([INTRODUCTION, *totals, *map(section, outcomes)]) + "\n"


def section(outcome: Outcome) -> str:
    rows = [
        f"| {scenario.name} | {scenario.passed} | {scenario.failed} | {scenario.unscored or ''} |"
        for scenario in outcome.scenarios
    ]
    head = ["| scenario | passed | failed | not scored |", "|---|---|---|---|"]
    return "\n".join([f"\n## {outcome.run.title}\n", *head, *rows])


def main() -> None:
    if not NODE.exists():
        sys.exit("the suite is not installed: run `make node`")
    with server() as url:
        outcomes = [conduct(run, url) for run in RUNS]
    PAGE.write_text(page(outcomes), encoding="utf-8")
    for outcome in outcomes:
        totals = f"{outcome.passed} passed, {outcome.failed} failed"
        sys.stdout.write(f"{outcome.run.title}: {len(outcome.scenarios)} scenarios, {totals}\n")
    sys.exit(any(outcome.failed for outcome in outcomes))


@contextmanager
def server() -> Iterator[str]:
    """A server on a database of its own."""
    importlib.import_module("tests.services")  # starts a Postgres and a Valkey
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS}
    for command in (["migrate", "--verbosity", "0"], ["skills", "import", str(SKILLS)]):
        manage = [sys.executable, "manage.py", *command]
        subprocess.run(manage, cwd=ROOT, env=environment, check=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        web_process(environment, Path(folder) / "log") as running,
    ):
        yield f"{running.url}/mcp"


if __name__ == "__main__":
    main()
