"""`make eval`, diagnosis: labelled errors given to `troubleshoot`, with the shipped patterns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

from benchmarks import report
from benchmarks.calling import CALLER
from benchmarks.server import ROOT
from contextd import pipeline, search, shipped
from troubleshoot import library
from troubleshoot.operations import Diagnosed

LABELLED = ROOT / "tests/troubleshoot/labelled.yaml"
LEVELS = ["high", "medium", "low"]


@dataclass(frozen=True)
class Case:
    """The expected patterns, none for an error that no pattern explains, and the answer."""

    expected: frozenset[str]
    answer: Diagnosed

    def is_right(self, within: int) -> bool:
        named = {hypothesis.id for hypothesis in self.answer.hypotheses[:within]}
        return bool(named & self.expected)

    @property
    def is_called_unknown(self) -> bool:
        return self.answer.root_cause.startswith("Unknown")


def main() -> None:
    loaded = shipped.load(library.LIBRARY)
    while search.embed_pending():
        pass
    cases = [ask(case) for case in yaml.safe_load(LABELLED.read_text(encoding="utf-8"))]
    text = (
        f"{len(loaded.added)} patterns; {len(cases)} errors in the forms in which they occur "
        "(`tests/troubleshoot/labelled.yaml`), diagnosed by `troubleshoot` in one process, without "
        "HTTP, language model or remediations. Every second error was used for development; the "
        "others only for these figures.\n\n"
        f"{accuracy(cases)}\n\n"
        "Calibration of its confidence, over all errors that have a pattern:\n\n"
        f"{confidence(cases)}"
    )
    report.write("diagnosis", "Diagnosis: quality", "make eval", text)


def ask(case: dict[str, Any]) -> Case:
    answer = pipeline.call("troubleshoot", {"error_message": case["error"]}, CALLER)
    return Case(frozenset(case["expect"]), cast(Diagnosed, answer))


def accuracy(cases: Sequence[Case]) -> str:
    heads = ["errors", "known", "top-1", "top-3", "unknown", "called unknown"]
    halves = {"development": cases[0::2], "held out": cases[1::2], "all": cases}
    return report.table(heads, [[name, *figures(half)] for name, half in halves.items()])


def figures(cases: Sequence[Case]) -> list[str]:
    known = [case for case in cases if case.expected]
    unknown = [case for case in cases if not case.expected]
    return [
        str(len(known)),
        share(case.is_right(within=1) for case in known),
        share(case.is_right(within=3) for case in known),
        str(len(unknown)),
        share(case.is_called_unknown for case in unknown),
    ]


def confidence(cases: Sequence[Case]) -> str:
    rows = []
    for level in LEVELS:
        said = [case for case in cases if case.expected and case.answer.confidence == level]
        rows.append([level, str(len(said)), share(case.is_right(within=1) for case in said)])
    return report.table(["confidence", "errors", "right"], rows)


def share(outcomes: Iterable[bool]) -> str:
    counted = list(outcomes)
    return f"{sum(counted) / len(counted):.3f}" if counted else ""


if __name__ == "__main__":
    main()
