"""Remediations from evaluation records: saved by the operation, or many at once in bulk."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from django.db import transaction

from benchmarks.calling import CALLER
from contextd import faults, pipeline, search
from contextd.search import embedding
from contextd.search.preparing import NOT_EMBEDDED
from remediations import reading, services
from remediations.models import Remediation
from remediations.operations import RemediationSaved
from remediations.reading import Reading

BATCH = 8
BUSY = "the embedding backend did not answer in time; is the machine busy?"

Names = dict[str, list[str]]
"""Ids of the evaluation records behind each remediation, by its id."""


@dataclass(frozen=True)
class Fix:
    """An evaluation record as an assistant would save it."""

    name: str
    error_message: str
    stack_trace: str
    solution: str
    project: int | None = None

    def read(self) -> Reading:
        printed = self.stack_trace or self.error_message
        error_type = faults.parse(printed).error_type[:200] or "Error"
        return reading.read(self.error_message, self.stack_trace, error_type)


def of_record(record: dict[str, Any]) -> Fix:
    return Fix(
        record["id"], record["error"], record["trace"], record["solution"] or record["title"]
    )


def save(fixes: Iterable[Fix]) -> Names:
    """Save fixes one after another by `remediation_save`."""
    embedding.warm_up()
    names: Names = defaultdict(list)
    for fix in fixes:
        given = {
            "error_message": fix.error_message,
            "error_type": fix.read().error_type,
            "stack_trace": fix.stack_trace,
            "solution": fix.solution,
        }
        saved = cast(RemediationSaved, pipeline.call("remediation_save", given, CALLER))
        if saved.notice == NOT_EMBEDDED:
            raise RuntimeError(BUSY)
        names[saved.id].append(fix.name)
    return names


def store(fixes: Iterable[Fix], size: int = BATCH) -> Names:
    """Store fixes as saving does, but embed `size` of them at a time.

    Of fixes with the same fingerprint and solution, the first is kept.
    """
    names: Names = defaultdict(list)
    for batch in _batches(fixes, size):
        for pk, name in _store(batch):
            names[pk].append(name)
    return names


def _store(batch: Sequence[Fix]) -> list[tuple[str, str]]:
    readings = [fix.read() for fix in batch]
    prepared = search.prepare_many(
        [read.found_by(fix.solution) for read, fix in zip(readings, batch, strict=True)]
    )
    if not all(text.embedded for text in prepared):
        raise RuntimeError(BUSY)
    names = []
    texts: defaultdict[int | None, dict[int, search.Prepared]] = defaultdict(dict)
    with transaction.atomic():
        for fix, read, text in zip(batch, readings, prepared, strict=True):
            row, is_new = _row(fix, read)
            names.append((str(row.pk), fix.name))
            if is_new:
                texts[fix.project][row.pk] = text
        for project, of_project in texts.items():
            search.store_many(services.DOMAIN, project, of_project)
    return names


def _row(fix: Fix, read: Reading) -> tuple[Remediation, bool]:
    return Remediation.objects.get_or_create(
        fingerprint=read.fingerprint,
        solution_digest=services.digest_of(fix.solution),
        project_id=fix.project,  # type: ignore[misc]  # the stubs omit that it may be null
        defaults={
            "error_message": fix.error_message,
            "error_type": read.error_type,
            "stack_trace": fix.stack_trace,
            "solution": fix.solution,
            "calls": list(read.calls),
            "created_by": "benchmark",
        },
    )


def _batches(fixes: Iterable[Fix], size: int) -> Iterator[list[Fix]]:
    remaining = iter(fixes)
    while batch := list(islice(remaining, size)):
        yield batch
