"""`make bench`, recording: the cost of recording a call, compared with the call itself."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from analytics import recording
from analytics.models import Event
from benchmarks import report
from contextd import notes, operations, pipeline, search
from contextd.auth import local_caller
from contextd.callers import Caller
from contextd.pipeline import Record
from contextd.signals import serving_began, serving_ended

CALLS = 2_000
SAVED = 50


@dataclass
class Spent:
    """Milliseconds of wall-clock time and of CPU time."""

    elapsed: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)

    @contextmanager
    def measured(self) -> Iterator[None]:
        began, began_work = time.perf_counter(), time.thread_time()
        yield
        self.worked.append((time.thread_time() - began_work) * 1000)
        self.elapsed.append((time.perf_counter() - began) * 1000)


def make_calls(caller: Caller) -> tuple[Spent, Spent]:
    """Return the cost of the calls, and of notifying the recorders of their end."""
    operation = operations.get("checkpoint_search")
    calls, recorded = Spent(), Spent()
    for number in range(CALLS):
        record = Record(operation, caller)
        arguments = {"query": f"what became of part {number % SAVED}"}
        with calls.measured(), notes.kept_in(record.notes), record.judging():
            record.result = pipeline.run(operation, arguments, caller)
        with recorded.measured():
            record.announce()
    return calls, recorded


def row(name: str, times: list[float]) -> list[str]:
    cuts = statistics.quantiles(times, n=100)
    return [name, f"{statistics.mean(times):.3f}", f"{cuts[49]:.3f}", f"{cuts[98]:.3f}"]


def main() -> None:
    search.warm_up()
    serving_began.send(sender=None)
    caller = local_caller("cli")
    for number in range(SAVED):
        saved = {"summary": f"Wrote part {number} of the parser", "project_path": "/w/shop"}
        pipeline.call("checkpoint_save", saved, caller)
    calls, recorded = make_calls(caller)
    serving_ended.send(sender=None)
    recording.buffer.flush()
    rows = [
        row("a search, wall clock", calls.elapsed),
        row("its recording, wall clock", recorded.elapsed),
        row("its recording, CPU time", recorded.worked),
    ]
    table = report.table(["milliseconds", "mean", "p50", "p99"], rows)
    written = Event.objects.filter(operation="checkpoint_search").count()
    text = (
        f"{CALLS} sequential calls of `checkpoint_search` in one process, without HTTP. "
        "*Recording* is everything that handles the end of a call, as in a server: analytics, the "
        "audit log and the metrics; separate threads write it concurrently, "
        f"{written} of {CALLS} calls here.\n\n{table}"
    )
    report.write("recording", "Recording calls", "make bench", text)


if __name__ == "__main__":
    main()
