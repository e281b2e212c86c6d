"""Runs the official conformance suite against a server and reads what it found."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.node import node

SECONDS = 180
SCENARIO = re.compile(r"^[✓✗] (?P<name>[\w-]+): (?P<passed>\d+) passed, (?P<failed>\d+) failed")
ALONE = re.compile(r"^Passed: (?P<passed>\d+)/\d+, (?P<failed>\d+) failed", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the suite; `scenarios` is their number in that release.

    The scenarios in `alone` run one by one, since they belong to no set.
    """

    title: str
    package: str
    scenarios: int
    arguments: Sequence[str] = field(default=())
    alone: Sequence[str] = field(default=())


RUNS = (
    Run("0.1.16, active scenarios", "conformance-0.1", 30),
    Run(
        "0.2.0-alpha.12, requirements of 2025-11-25",
        "conformance-0.2",
        33,
        ("--requirements", "2025-11-25"),
    ),
    Run(
        "0.2.0-alpha.12, requirements of 2026-07-28",
        "conformance-0.2",
        50,
        ("--requirements", "2026-07-28"),
    ),
    Run(
        "0.2.0-alpha.12, the skills extension",
        "conformance-0.2",
        3,
        alone=(
            "sep-2640-skills-enumeration",
            "sep-2640-skills-manifest",
            "sep-2640-skills-directory",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    passed: int
    failed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    run: Run
    scenarios: list[Scenario]
    output: str

    @property
    def is_whole(self) -> bool:
        """Whether the output could be read and has all scenarios of that release."""
        return len(self.scenarios) == self.run.scenarios

    @property
    def passed(self) -> int:
        return sum(scenario.passed for scenario in self.scenarios)

    @property
    def failed(self) -> int:
        return sum(scenario.failed for scenario in self.scenarios)


def conduct(run: Run, url: str) -> Outcome:
    if run.alone:
        return conduct_one_by_one(run, url)
    output = printed(run, url, *run.arguments)
    scenarios = [
        Scenario(found["name"], int(found["passed"]), int(found["failed"]))
        for line in output.splitlines()
        if (found := SCENARIO.match(line))
    ]
    return Outcome(run, scenarios, output)


def conduct_one_by_one(run: Run, url: str) -> Outcome:
    outputs = {name: printed(run, url, "--scenario", name) for name in run.alone}
    scenarios = [
        Scenario(name, int(found["passed"]), int(found["failed"]))
        for name, output in outputs.items()
        if (found := ALONE.search(output))
    ]
    return Outcome(run, scenarios, "\n".join(outputs.values()))


def printed(run: Run, url: str, *arguments: str) -> str:
    command = [*node(f"{run.package}/dist/index.js"), "server", "--url", url, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return ended.stdout + ended.stderr
