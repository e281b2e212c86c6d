"""`make eval`, diagnosis: labelled errors and shipped examples, diagnosed with all patterns."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from benchmarks import labelled, report
from benchmarks.calling import CALLER
from benchmarks.labelled import Labelled
from contextd import pipeline, search, shipped
from troubleshoot import library, matching, symptoms
from troubleshoot.models import Pattern
from troubleshoot.operations import Diagnosed

LEVELS = ["high", "medium", "low"]

Examples = Mapping[str, Collection[str]]
"""Examples by the key of their pattern."""


@dataclass(frozen=True)
class Case:
    """The expected patterns, none for an error that no pattern explains, and the answer."""

    expected: frozenset[str]
    part: str
    answer: Diagnosed

    def is_right(self, within: int) -> bool:
        named = {hypothesis.id for hypothesis in self.answer.hypotheses[:within]}
        return bool(named & self.expected)

    @property
    def is_called_unknown(self) -> bool:
        return self.answer.root_cause.startswith("Unknown")


def main() -> None:
    loaded = shipped.load(library.LIBRARY)
    embed_all()
    examples = {pattern.key: pattern.errors for pattern in Pattern.objects.published()}
    sharing = [sharing_examples(case, examples) for case in labelled.cases()]
    as_shipped = [ask(case) for case in labelled.cases()]
    unshared = [
        ask_without(case, left_out) if left_out else answered
        for case, left_out, answered in zip(labelled.cases(), sharing, as_shipped, strict=True)
    ]
    text = (
        f"{len(loaded.added)} patterns; {len(unshared)} errors in the forms in which they occur "
        "(`tests/troubleshoot/labelled.yaml`), diagnosed by `troubleshoot` in one process, without "
        "HTTP, language model or remediations. *Development*: patterns and weights were chosen on "
        "these errors. *Held out*: only for these figures. *Unseen*: written last; nothing was "
        "changed for them.\n\n"
        "Many tools have one wording for an error, which the examples of the patterns have too "
        f"(`tests/troubleshoot/fixed_wordings.yaml`). For the {sum(map(bool, sharing))} errors "
        "that share a sentence with examples of their pattern, whatever the names in it, these "
        "examples are removed from the index. *As shipped*: with all examples.\n\n"
        f"{accuracy(unshared, as_shipped)}\n\n"
        "Calibration of its confidence, over all errors that have a pattern, without the examples "
        "that share a sentence:\n\n"
        f"{confidence(unshared)}\n\n"
        "Every shipped example, found by words, signatures and meaning, with all examples of its "
        "own pattern removed from the index and the vocabulary:\n\n"
        f"{own_patterns(examples)}"
    )
    report.write("diagnosis", "Diagnosis: quality", "make eval", text)


def sharing_examples(case: Labelled, examples: Examples) -> Examples:
    """Return the examples of the expected patterns that share a sentence with the error."""
    found = {key: labelled.sharing(case.error, examples[key]) for key in sorted(case.expected)}
    return {key: sharing for key, sharing in found.items() if sharing}


def ask(case: Labelled) -> Case:
    answer = pipeline.call("troubleshoot", {"error_message": case.error}, CALLER)
    return Case(case.expected, case.part, cast(Diagnosed, answer))


def ask_without(case: Labelled, left_out: Examples) -> Case:
    with without(left_out):
        return ask(case)


@contextmanager
def without(left_out: Examples) -> Iterator[None]:
    """Remove these examples from their patterns while the block runs."""
    patterns = list(Pattern.objects.filter(key__in=left_out))
    all_errors = [pattern.errors for pattern in patterns]
    for pattern in patterns:
        give(pattern, [error for error in pattern.errors if error not in left_out[pattern.key]])
    yield
    for pattern, errors in zip(patterns, all_errors, strict=True):
        give(pattern, errors)
    embed_all()


def give(pattern: Pattern, errors: list[str]) -> None:
    pattern.errors = errors
    pattern.save()
    shipped.index(library.LIBRARY, [pattern])


def embed_all() -> None:
    while search.embed_pending():
        pass


def accuracy(unshared: Sequence[Case], as_shipped: Sequence[Case]) -> str:
    heads = ["errors", "known", "top-1", "top-3", "unknown", "called unknown"]
    parts = {
        **{part: [case for case in unshared if case.part == part] for part in labelled.PARTS},
        "all": unshared,
        "all, as shipped": as_shipped,
    }
    return report.table(heads, [[name, *figures(part)] for name, part in parts.items()])


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


def own_patterns(examples: Examples) -> str:
    found = [(key, keys) for key, errors in examples.items() for keys in found_without(key, errors)]
    figures = [share(key in keys[:within] for key, keys in found) for within in (1, 3)]
    heads = ["patterns", "examples", "top-1", "top-3"]
    return report.table(heads, [[str(len(examples)), str(len(found)), *figures]])


def found_without(key: str, errors: Collection[str]) -> list[list[str]]:
    """Return the keys of the patterns found for each example of this one, the likeliest first."""
    with without({key: errors}):
        return [keys_of(error) for error in errors]


def keys_of(error: str) -> list[str]:
    found = matching.find(symptoms.read(error, facts={}, tags=()))
    return [match.pattern.key for match in found.matches]


def share(outcomes: Iterable[bool]) -> str:
    counted = list(outcomes)
    return f"{sum(counted) / len(counted):.3f}" if counted else ""


if __name__ == "__main__":
    main()
