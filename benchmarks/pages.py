"""`make bench`, pages: latency of each page at 100,000 records."""

import http.client
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urlencode

from benchmarks import report, scratch, server
from benchmarks.checkpoints import asked, figures

WARM = 5
ASKED = 100 + WARM
SEARCH = "/dashboard/search/"
ADMIN_LIST = "/admin/checkpoints/checkpoint/"
DATA = [
    f"/api/dashboard/{address}"
    for address in (
        *("series/", "latencies/", "top/operations/", "top/errors/", "top/unanswered/"),
        *("top/clients/", "calls/", "sessions/", "audit/", "records/checkpoint/"),
    )
]
KEPT = server.ROOT / ".contextd-bench-pages"


def pages(first: int, project: int) -> dict[str, list[str]]:
    """Return the addresses of each page; no two searches are the same."""
    queries = [query[:100] for query in asked()]
    records = [f"/dashboard/records/checkpoint/{first + 7 * n}/" for n in range(ASKED)]
    return {
        "dashboard, 30 days": ["/dashboard/"] * ASKED,
        "dashboard, 90 days": ["/dashboard/?days=90"] * ASKED,
        "dashboard, one project": [f"/dashboard/?project={project}"] * ASKED,
        "search, all kinds": [f"{SEARCH}?{urlencode({'q': q})}" for q in queries],
        "search, one kind": [
            f"{SEARCH}?{urlencode({'q': f'{q} again', 'kind': 'checkpoint'})}" for q in queries
        ],
        "a record": records,
        "related records": [f"{record}related/" for record in records],
        "errors, with a search for each": ["/dashboard/errors/"] * ASKED,
        "health": ["/dashboard/health/"] * ASKED,
        "live calls": ["/dashboard/live/"] * ASKED,
        "live calls, one tool": ["/dashboard/live/?operation=remediation_feedback"] * ASKED,
        "admin, list": [ADMIN_LIST] * ASKED,
        "admin, search by meaning": [f"{ADMIN_LIST}?{urlencode({'q': f'{q}.'})}" for q in queries],
        **{f"`{address}`": [address] * ASKED for address in DATA},
    }


def session_of_superuser() -> str:
    """Return the cookie of a superuser who is logged in."""
    from django.contrib.auth.models import User
    from django.test import Client

    user, _ = User.objects.get_or_create(username="bench", is_superuser=True, is_staff=True)
    browser = Client()
    browser.force_login(user)
    return browser.cookies.output(header="", attrs=[]).strip()


def measure(port: int, cookie: str, addresses: Sequence[str]) -> list[float]:
    """Time whole pages over one connection, in milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = list(islice(timed(connection, cookie, addresses), ASKED))
    connection.close()
    return times[WARM:]


def timed(
    connection: http.client.HTTPConnection, cookie: str, addresses: Sequence[str]
) -> Iterator[float]:
    for address in addresses:
        started = time.perf_counter()
        connection.request("GET", address, headers={"Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        yield (time.perf_counter() - started) * 1000
        if answer.status != http.client.OK:
            raise RuntimeError(f"{address} answered {answer.status}")


def main() -> None:
    with server.running(KEPT) as running:
        scratch.use_data_of(KEPT)
        from benchmarks import crowded  # reads the settings on import
        from checkpoints.models import Checkpoint
        from contextd.models import Project

        filled = crowded.fill()
        server.wait_until_idle(running)
        first, project = Checkpoint.objects.earliest("pk").pk, Project.objects.earliest("pk").pk
        cookie = session_of_superuser()
        rows = [
            [name, *figures(measure(running.port, cookie, addresses))]
            for name, addresses in pages(first, project).items()
        ]
    text = (
        f"{filled}. Whole pages over raw keep-alive HTTP from the same machine, one client, after "
        f"{WARM} warm-up requests, every search new, nothing cached between them.\n\n"
        f"{report.table(['page', 'p50 ms', 'p95 ms', 'p99 ms', 'times'], rows)}"
    )
    report.write("pages", "Pages: speed", "make bench", text)


if __name__ == "__main__":
    main()
