"""`make eval`, errors: every record is a remediation, every query a `remediation_search`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from django.conf import settings

from benchmarks import fixes, published, quality, report, sets
from benchmarks.calling import CALLER
from contextd import pipeline
from contextd.search import embedding
from remediations.operations import RemediationMatches

LIMIT = 100
MESSAGE_ALONE = "contextd, message alone"
FLOORS = [0.0, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8]
PUBLISHED_FLOORS = (0.5, 0.3, 0.6)
SHARES = [0.02, 0.1, 0.5]


@dataclass(frozen=True)
class Answer:
    """The records found for a query with their scores, the best first."""

    query: sets.Query
    found: list[tuple[str, float]]

    def above(self, floor: float) -> list[str]:
        return [name for name, score in self.found[:10] if score >= floor]

    def is_answered_without_the_right_one(self, floor: float) -> bool:
        """Return whether anything else is found, as for an error that nobody has fixed."""
        return any(score >= floor for name, score in self.found if name not in self.query.relevant)

    def right(self) -> list[float]:
        """Return the score of the best right record among the first ten, if any."""
        return [score for name, score in self.found[:10] if name in self.query.relevant][:1]


def main() -> None:
    records = sets.read("errors/corpus.jsonl")
    queries = sets.queries("errors/queries.jsonl")
    started = time.monotonic()
    names = fixes.save(map(fixes.of_record, records))
    loading = time.monotonic() - started
    answers, times = ask(queries, names)
    by_message = [answer(replace(query, text=query.error), names) for query in queries]
    rated = rate_as_published(records, queries)
    ids = [record["id"] for record in records]
    theirs = answers_of(queries, ids, rated.match)
    floored = answers_of(queries, ids, with_published_floors(rated))
    ways = [
        ranked("contextd", answers, times),
        ranked(MESSAGE_ALONE, by_message),
        ranked(published.NAME, theirs),
    ]
    text = (
        f"{len(names)} remediations, saved by `remediation_save` in {loading:.0f} s; the "
        "development queries run by `remediation_search`, in one process and without HTTP, "
        "compared with a rule of 70 % cosine similarity and 30 % edit distance. *Message alone*: "
        "searched without the stack trace.\n\n"
        f"{quality.table(*ways)}\n\n"
        "Effects of `min_score`; recall and MRR are means over the subsets. *Results*: the mean "
        f"number of at most {LIMIT} results. *Unknown answered*: the share of queries that still "
        "have a result after the right record is removed.\n\n"
        f"{curve(answers, by_message, theirs, floored)}\n\n"
        "Scores by subset, as quantiles over the queries. *Right*: of the right record, where it "
        "is among the first ten. *Tenth*, *hundredth*: of the record at that place, which is wrong "
        f"for nearly all queries.\n\n{scores(answers)}"
    )
    report.write("errors", "Errors as remediations: quality", "make eval", text)


def ask(queries: Sequence[sets.Query], names: fixes.Names) -> tuple[list[Answer], list[float]]:
    """Return the answers, and the milliseconds that ten results of each take."""
    embedding.warm_up()
    answers, times = [], []
    for query in queries:
        started = time.perf_counter()
        search(query, limit=10)
        times.append((time.perf_counter() - started) * 1000)
        answers.append(answer(query, names))
    return answers, times


def answer(query: sets.Query, names: fixes.Names) -> Answer:
    results = search(query, limit=LIMIT).results
    found = [(name, match.match_score) for match in results for name in names[match.id]]
    return Answer(query, found)


def search(query: sets.Query, limit: int) -> RemediationMatches:
    arguments = {
        "error_message": query.error,
        "stack_trace": query.text if query.text != query.error else "",
        "limit": limit,
        "min_score": 0,
    }
    return cast(RemediationMatches, pipeline.call("remediation_search", arguments, CALLER))


def rate_as_published(
    records: Sequence[dict[str, str]], queries: Sequence[sets.Query]
) -> published.Rated:
    texts = [f"{r['trace'] or r['error']}\n{r['solution']}" for r in records]
    return published.rate(
        published.Side([query.text for query in queries], [query.error for query in queries]),
        published.Side(texts, [record["error"] for record in records]),
        settings.DATA_DIR / "models",
    )


def with_published_floors(rated: published.Rated) -> published.Scores:
    semantic, string, match = PUBLISHED_FLOORS
    passed = (rated.semantic >= semantic) & (rated.string >= string) & (rated.match >= match)
    kept: published.Scores = np.where(passed, rated.match, 0)
    return kept


def answers_of(
    queries: Sequence[sets.Query], ids: Sequence[str], match: published.Scores
) -> list[Answer]:
    return [
        Answer(query, published.best(row, ids, LIMIT))
        for query, row in zip(queries, match, strict=True)
    ]


def ranked(name: str, answers: Sequence[Answer], times: Sequence[float] = ()) -> quality.Ranked:
    return quality.Ranked(name, [(answer.query, answer.above(0)) for answer in answers], times)


def curve(
    ours: Sequence[Answer],
    by_message: Sequence[Answer],
    theirs: Sequence[Answer],
    floored: Sequence[Answer],
) -> str:
    heads = ["ranking", "min_score", "recall@10", "MRR@10", "results", "unknown answered"]
    ways = {"contextd": ours, MESSAGE_ALONE: by_message, published.NAME: theirs}
    rows = [
        [name, f"{floor:g}", *_at(answers, floor)]
        for name, answers in ways.items()
        for floor in FLOORS
    ]
    names = "0.6, semantic 0.5, string 0.3"
    return report.table(heads, [*rows, [published.NAME, names, *_at(floored, 0.6)]])


def scores(answers: Sequence[Answer]) -> str:
    heads = ["subset", *(f"right: {share:.0%}" for share in SHARES), "tenth: 50%", "hundredth: 50%"]
    rows = []
    for subset in sorted({answer.query.subset for answer in answers}):
        own = [answer for answer in answers if answer.query.subset == subset]
        right = [score for answer in own for score in answer.right()]
        at = [
            [answer.found[place][1] for answer in own if len(answer.found) > place]
            for place in (9, 99)
        ]
        figures = [sets.percentile(right, share) for share in SHARES]
        figures += [sets.percentile(those, 0.5) for those in at]
        rows.append([subset, *(f"{figure:.2f}" for figure in figures)])
    return report.table(heads, rows)


def _at(answers: Sequence[Answer], floor: float) -> list[str]:
    found = quality.macro([(answer.query, answer.above(floor)) for answer in answers])
    results = sum(score >= floor for answer in answers for _, score in answer.found)
    unknown = sum(answer.is_answered_without_the_right_one(floor) for answer in answers)
    means = [f"{results / len(answers):.0f}", f"{unknown / len(answers):.2f}"]
    return [f"{found.recall_10:.3f}", f"{found.mrr:.3f}", *means]


if __name__ == "__main__":
    main()
