"""Runs the official conformance suite against a server and reads what it found."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.node import node

SECONDS = 180
SCENARIO = re.compile(r"^[✓✗] (?P<name>[\w-]+): (?P<passed>\d+) passed, (?P<failed>\d+) failed")
UNSCORED = re.compile(r"^  [✓✗] (?P<name>[\w-]+) \((?P<reason>[\w-]+)\)$")


@dataclass(frozen=True, slots=True)
class Run:
    """One way of running it; `scenarios` is how many that release has."""

    title: str
    package: str
    scenarios: int
    arguments: Sequence[str] = field(default=())


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
)


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    passed: int
    failed: int
    unscored: str | None
    """Why it does not count for that revision, as the suite says; None when it does."""


@dataclass(frozen=True, slots=True)
class Outcome:
    run: Run
    scenarios: list[Scenario]
    output: str

    @property
    def passed(self) -> int:
        return sum(scenario.passed for scenario in self.scenarios)

    @property
    def failed(self) -> int:
        return sum(scenario.failed for scenario in self.scenarios)


def conduct(run: Run, url: str) -> Outcome:
    command = [*node(f"{run.package}/dist/index.js"), "server", "--url", url, *run.arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    lines = ended.stdout.splitlines()
    unscored = {found["name"]: found["reason"] for line in lines if (found := UNSCORED.match(line))}
    scenarios = [
        Scenario(
            found["name"], int(found["passed"]), int(found["failed"]), unscored.get(found["name"])
        )
        for line in lines
        if (found := SCENARIO.match(line))
    ]
    return Outcome(run, scenarios, ended.stdout + ended.stderr)
