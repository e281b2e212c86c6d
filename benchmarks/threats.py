"""`make eval`, threats: `tmkb_query` with descriptions of features."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.calling import CALLER
from contextd import search, shipped
from contextd.search import embedding
from threats import services

QUERIES = Path(__file__).parent.parent / "tests/threats/queries.tsv"
NONE = "none"


@dataclass(frozen=True)
class Asked:
    """A query, the threats of which it should find one, and those found, best first."""

    subset: str
    query: str
    expected: frozenset[str]
    found: list[str]

    def is_found_within(self, depth: int) -> bool:
        return bool(self.expected & set(self.found[:depth]))


def load() -> int:
    """Load and embed all shipped threats; return how many there are."""
    loaded = shipped.load(services.LIBRARY)
    while search.embed_pending():
        pass
    return len(loaded.added)


def ask() -> list[Asked]:
    """Run the queries; a line with # begins a subset."""
    asked, subset = [], ""
    for line in QUERIES.read_text(encoding="utf-8").splitlines():
        query, _, keys = line.partition("\t")
        if line.startswith("#"):
            subset = line.removeprefix("# ")
            continue
        expected = frozenset(f"TMKB-{key}" for key in keys.split() if key != NONE)
        found = [match.threat.key for match in services.find(CALLER, query).matches]
        asked.append(Asked(subset, query, expected, found))
    return asked


def main() -> None:
    embedding.warm_up()
    count = load()
    asked = ask()
    relevant = [one for one in asked if one.expected]
    others = [one for one in asked if not one.expected]
    answered = sum(bool(one.found) for one in others)
    told = sum(len(one.found) for one in relevant) / len(relevant)
    text = (
        f"{count} threats; plain descriptions of work by developers, given to `tmkb_query` in one "
        "process and without HTTP. A query counts as answered if one of its labelled threats is "
        "among the first results. *Before tuning*: the ranking and the words of the threats were "
        "chosen on these queries. *After tuning*: queries about kinds of work added later. "
        "*Unseen*: nothing was changed for these queries.\n\n"
        f"{report.table(['written', 'queries', 'top 1', 'top 3', 'top 5'], rows_of(relevant))}\n\n"
        f"A query finds {told:.1f} threats on average. Of {len(others)} queries "
        f"unrelated to threats, {answered} have any result."
    )
    report.write("threats", "Threats: quality", "make eval", text)


def rows_of(asked: Sequence[Asked]) -> list[list[str]]:
    subsets = dict.fromkeys(one.subset for one in asked)
    parts = [(name, [one for one in asked if one.subset == name]) for name in subsets]
    return [
        [name, str(len(part)), *(share(part, depth) for depth in (1, 3, 5))]
        for name, part in [*parts, ("all", list(asked))]
    ]


def share(asked: Sequence[Asked], depth: int) -> str:
    return f"{sum(one.is_found_within(depth) for one in asked) / len(asked):.3f}"


if __name__ == "__main__":
    main()
