"""What a soak found: its checks, and its text."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks import report

MAX_GROWTH_MB = 50
MAX_MORE_FILES = 20

WHEN = ("after half of the time", "at the end")

Counts = defaultdict[str, Counter[str]]
"""Outcomes or kills, by transport."""


@dataclass(frozen=True)
class Weight:
    """The resources that a process and its descendants hold."""

    name: str
    processes: int
    files: int
    megabytes: float

    def growth_since(self, before: "Weight") -> Iterator[str]:
        if self.processes > before.processes:
            yield f"{self.name}: from {before.processes} to {self.processes} processes"
        if self.files > before.files + MAX_MORE_FILES:
            yield f"{self.name}: from {before.files} to {self.files} open files"
        if self.megabytes > before.megabytes + MAX_GROWTH_MB:
            yield f"{self.name}: from {before.megabytes:.0f} to {self.megabytes:.0f} MiB"


@dataclass(frozen=True)
class Rest:
    """What there is some time after the last call and kill of a half."""

    weights: list[Weight]
    running: dict[str, int]
    """What the gateway runs, by upstream; one is the connection that listens for changes."""
    not_ready: list[str]


@dataclass
class Findings:
    transports: dict[str, list[str]]
    """The namespaces of the upstreams, by transport."""
    left_out: str
    """Why a transport is left out."""
    outcomes: Counts = field(default_factory=lambda: defaultdict(Counter))
    kills: Counts = field(default_factory=lambda: defaultdict(Counter))
    rests: list[Rest] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Processes, containers and execs that remain after the end of contextd."""

    def problems(self) -> Iterator[str]:
        """Name each check that failed."""
        for transport in self.transports:
            yield from self._problems_of(transport)
        for when, rest in zip(WHEN, self.rests, strict=True):
            yield from (f"{when}, an upstream is not ready: {line}" for line in rest.not_ready)
            for namespace, number in rest.running.items():
                if number > 1:
                    yield f"{when}, the gateway runs {namespace} {number} times instead of once"
        yield from (f"left behind: {one}" for one in self.left)
        for before, after in zip(*(rest.weights for rest in self.rests), strict=True):
            yield from (f"growth of the {growth}" for growth in after.growth_since(before))

    def _problems_of(self, transport: str) -> Iterator[str]:
        outcomes = self.outcomes[transport]
        if lost := outcomes["lost"]:
            yield f"{transport}: {lost} calls had no answer"
        if wrong := outcomes["wrong"]:
            yield f"{transport}: {wrong} calls had a wrong answer"
        if outcomes["ok"] <= outcomes["failed"]:
            yield f"{transport}: most calls failed"
        if not self.kills[transport]:
            yield f"{transport}: nothing was killed"

    def text(self, minutes: float, clients: int) -> str:
        gateway = self.kills["gateway"].total()
        left_out = f" There were no calls over docker exec: {self.left_out}." * bool(self.left_out)
        return (
            f"Over each transport, {clients} clients called upstreams through `/mcp` for "
            f"{minutes:g} minutes, while the upstreams were killed at random. In the first "
            f"quarter, the gateway was killed, too (kills: {gateway}).{left_out}\n\n"
            f"{self._table_of_calls()}\n\n"
            f"Processes and containers of upstreams left behind: {len(self.left)}.\n\n"
            f"{self._table_of_weights()}"
        )

    def _table_of_calls(self) -> str:
        heads = ["transport", "upstreams", "killed", "calls with a result", "with an error"]
        rows = [
            [
                transport,
                ", ".join(f"`{namespace}`" for namespace in namespaces),
                ", ".join(f"{kind}: {n}" for kind, n in sorted(self.kills[transport].items())),
                *(str(self.outcomes[transport][one]) for one in ("ok", "failed", "lost", "wrong")),
            ]
            for transport, namespaces in self.transports.items()
        ]
        return report.table([*heads, "without an answer", "with a wrong one"], rows)

    def _table_of_weights(self) -> str:
        rows = [
            [one.name, when, str(one.processes), str(one.files), f"{one.megabytes:.0f}"]
            for when, rest in zip(WHEN, self.rests, strict=True)
            for one in rest.weights
        ]
        return report.table(["process", "when", "child processes", "open files", "MiB"], rows)
