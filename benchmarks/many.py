"""100,000 remediations made from the evaluation records, and their exhaustive ranking."""

from dataclasses import replace
from itertools import islice
from typing import Any

from django.db import connection, transaction

from benchmarks import fixes, sets, variations
from benchmarks.fixes import Fix
from contextd import search
from contextd.models import Project
from contextd.search import candidates, embedding, finding, scope
from contextd.search.models import Passage
from contextd.search.ranking import best_of_records, within_reach
from remediations import reading, scoring, services
from remediations.models import Remediation

SIZE = 100_000
PROJECTS = 4
STACK, SOLUTION = 300, 200
STORED_AT_ONCE = 64
SECONDS = 20
RATED = 1000
"""Number of best matches compared in detail, enough that no other can rank above them."""


def fill() -> str:
    """Fill a database that is kept between runs, unless it is full; return what it holds."""
    projects = [Project.objects.get_or_create(name=f"team {n}")[0].pk for n in range(PROJECTS)]
    source = variations.source_of(
        [shortened(record) for record in sets.read("errors/corpus.jsonl")]
    )
    programs = SIZE // (PROJECTS * len(source.fixes)) + 3  # duplicates are stored once
    there = Remediation.objects.count()
    if there < SIZE:
        made = islice(variations.many(source, programs, projects), there, None)
        while Remediation.objects.count() < SIZE:
            fixes.store(islice(made, STORED_AT_ONCE * 4), STORED_AT_ONCE)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    return (
        f"{Remediation.objects.count()} remediations ({Passage.objects.count()} passages, all "
        f"embedded by the model): each of {len(source.fixes)} evaluation records in up to "
        f"{programs} programs with other names, and each of those in {PROJECTS} projects with "
        f"folders, numbers and addresses of its own. Solutions are cut to {SOLUTION} characters."
    )


def shortened(record: dict[str, Any]) -> Fix:
    fix = fixes.of_record(record)
    return replace(fix, stack_trace=fix.stack_trace[:STACK], solution=fix.solution[:SOLUTION])


def queries() -> list[dict[str, Any]]:
    """Return the complete evaluation queries, as another program prints them in another run."""
    asked = [
        Fix(query.id, query.error, query.text if query.text != query.error else "", "")
        for query in sets.queries("errors/queries.jsonl")
    ]
    source = variations.source_of(asked)
    changed = [variations.moved(variations.renamed(source, fix, "asked"), "asked") for fix in asked]
    return [{"error_message": fix.error_message, "stack_trace": fix.stack_trace} for fix in changed]


def exact_scores(asked: dict[str, Any], limit: int) -> list[float]:
    """Return the scores of the best matches, found by rating every passage."""
    read = reading.read(asked["error_message"], asked["stack_trace"])
    embedded = embedding.embed([read.text], SECONDS)
    every = set(Passage.objects.values_list("pk", flat=True))
    with transaction.atomic():
        asked_for = candidates.asked_in(services.DOMAIN, read.text)
        where = scope.look_in(
            services.DOMAIN,
            None,
            shared=True,
            records=None,
            space=embedded.space,
            words=asked_for,
        )
        words = candidates.asked_words(where, asked_for)
        rated = finding._rate(where, every, words, embedded.vectors[0])
        near = within_reach(rated, scoring.WEIGHTS, RATED, best_of_records)
        hits = finding._hits(near, read.headline, scoring.WEIGHTS, RATED, best_of_records)
    return sorted(_scores(read, hits), reverse=True)[:limit]


def _scores(read: reading.Reading, hits: list[search.Hit]) -> list[float]:
    rows = Remediation.objects.only(*scoring.COMPARED).in_bulk([hit.record_id for hit in hits])
    return [scoring.score(read, hit, rows[hit.record_id]).match for hit in hits]
