"""`make bench`, checkpoints: latency, throughput and memory at 10,000 checkpoints."""

import itertools
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import django

from benchmarks import report, server, sets
from benchmarks.client import Client
from benchmarks.notes import checkpoint_of

SIZE = 10_000
ASKED = 400
PROJECTS = 5
KEPT = server.ROOT / ".contextd-bench"


def texts() -> Iterator[str]:
    """Return distinct real texts: notes, error reports with their fixes, functions."""
    for record in sets.read("notes/corpus.jsonl"):
        yield record["text"]
    for record in sets.read("errors/corpus.jsonl"):
        yield f"{record['title']}\n{record['solution'][:800]}"
    for record in sets.read("code/functions.jsonl") + sets.read("code/cosqa_corpus.jsonl"):
        yield record["text"][:800]


def asked() -> list[str]:
    names = ("notes/queries.jsonl", "code/cosqa_queries.jsonl", "code/docstring_queries.jsonl")
    return [query.text[:300] for name in names for query in sets.queries(name)][:ASKED]


def fill(client: Client) -> None:
    """Save until there are enough; a folder kept from an earlier run stays as it is."""
    there = client.call("checkpoint_list", limit=1)["total"]
    for number, text in enumerate(itertools.islice(texts(), SIZE)):
        if number >= there:
            path = f"/bench/project-{number % PROJECTS}"
            client.call("checkpoint_save", project_path=path, **checkpoint_of(text))


def measure(client: Client, name: str, calls: list[dict[str, object]]) -> list[float]:
    return [client.timed(name, **arguments)[1] for arguments in calls]


def throughput(port: int, queries: list[str], clients: int) -> float:
    """Measure searches per second with that many concurrent clients."""
    shares = [queries[number::clients] for number in range(clients)]

    def ask(share: list[str]) -> None:
        client = Client(port)
        for query in share:
            client.call("checkpoint_search", query=f"{query} again")

    threads = [threading.Thread(target=ask, args=[share]) for share in shares]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(queries) / (time.perf_counter() - started)


def memory_of_children(parent: int) -> dict[str, float]:
    """Return the resident MiB of each process that `up` runs, by program."""
    found: dict[str, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text(encoding="ascii", errors="replace")
            command = (folder / "cmdline").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        if int(fields["PPid"]) == parent and "VmRSS" in fields:
            words = command.split("\0")
            name = next(
                (w for w in words if w in ("celery", "contextd.serving", "gateway_run")),
                os.path.basename(words[0]).partition(" ")[0],
            )
            found[name] = int(fields["VmRSS"].split()[0]) / 1024
    return found


def main() -> None:
    queries = asked()
    with server.running(KEPT) as running:
        fill(Client(running.port))
        server.wait_until_idle(running)
        client = Client(running.port)
        measure(client, "checkpoint_search", [{"query": f"warm {n}"} for n in range(20)])
        everywhere = measure(client, "checkpoint_search", [{"query": query} for query in queries])
        in_project = measure(
            client,
            "checkpoint_search",
            [{"query": f"{query} ", "project_path": "/bench/project-1"} for query in queries],
        )
        listed = measure(client, "checkpoint_list", [{}] * 200)
        several = throughput(running.port, queries, 8)
        memory = memory_of_children(running.process.pid)
        saved = measure_saves(Client(running.port))  # the previous connection was closed while idle
        limiter = limiter_cost(running.data_dir)
    rows = [
        ["`checkpoint_search`, all projects", *figures(everywhere)],
        ["`checkpoint_search`, one project of five", *figures(in_project)],
        ["`checkpoint_save`", *figures(saved)],
        ["`checkpoint_list`", *figures(listed)],
    ]
    resident = ", ".join(f"{name} {size:.0f} MiB" for name, size in sorted(memory.items()))
    text = (
        f"{SIZE} checkpoints of real texts in {PROJECTS} projects; raw keep-alive HTTP to `/mcp`, "
        "protocol 2026-07-28, one client, warm, every query new, rate limits off.\n\n"
        f"{report.table(['call', 'p50 ms', 'p95 ms', 'p99 ms', 'calls'], rows)}\n\n"
        f"Eight concurrent clients: {several:.0f} searches per second. "
        f"Resident memory: {resident}. "
        f"The rate limiter adds {limiter:.2f} ms to a call (p50)."
    )
    report.write("checkpoints", "Checkpoints: speed", "make bench", text)


def measure_saves(client: Client) -> list[float]:
    """Time saves of checkpoints of a usual size, and delete them afterwards."""
    times, ids = [], []
    for number, record in enumerate(sets.read("notes/corpus.jsonl")[:200]):
        text = f"{record['text']} (kept for the {number}th time)"
        saved, took = client.timed(
            "checkpoint_save", project_path="/bench/saves", **checkpoint_of(text)
        )
        times.append(took)
        ids.append(saved["id"])
    for checkpoint in ids:
        client.call("checkpoint_delete", id=checkpoint)
    return times


def limiter_cost(data_dir: Path) -> float:
    """Time both rate limits of a call, in milliseconds, in the Valkey of the running server."""
    os.environ |= {"CONTEXTD_DATA_DIR": str(data_dir), "CONTEXTD_RATE_LIMITS": "on"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "contextd.settings"
    django.setup()
    from contextd import limits, operations
    from contextd.callers import Caller, Entry

    times = []
    for number in range(1000):
        caller = Caller(principal=f"p{number}", door="mcp", entry=Entry(), connection=f"c{number}")
        started = time.perf_counter()
        limits.throttle(operations.get("checkpoint_list"), caller)
        times.append((time.perf_counter() - started) * 1000)
    return sets.percentile(times, 0.5)


def figures(times: list[float]) -> list[str]:
    shares = [f"{sets.percentile(times, share):.1f}" for share in (0.5, 0.95, 0.99)]
    return [*shares, str(len(times))]


if __name__ == "__main__":
    main()
