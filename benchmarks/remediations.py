"""`make bench`, remediations: speed and exactness at 100,000 remediations."""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import report, scratch, server, sets
from benchmarks.client import Client

Arguments = dict[str, Any]
ASKED = 400
COMPARED = 100
LIMIT = 10
TIE = 1e-6
KEPT = server.ROOT / ".contextd-bench-remediations"


def main() -> None:
    with server.running(KEPT) as running:
        scratch.use_data_of(KEPT)
        from benchmarks import many  # reads the settings on import

        stored = many.fill()
        server.wait_until_idle(running)
        asked = many.queries()[:ASKED]
        client = Client(running.port)
        for number in range(20):
            client.call("remediation_search", error_message=f"warm {number}")
        times = [client.timed("remediation_search", **arguments)[1] for arguments in asked]
        found = share_of_best_found(running.port, asked[:COMPARED], many.exact_scores)
    figures = [f"{sets.percentile(times, share):.1f}" for share in (0.5, 0.95, 0.99)]
    rows = [["`remediation_search`", *figures, str(len(times))]]
    text = (
        f"{stored}\n\nRaw keep-alive HTTP to `/mcp`, protocol 2026-07-28, one client, warm, every "
        "query new, rate limits off.\n\n"
        f"{report.table(['call', 'p50 ms', 'p95 ms', 'p99 ms', 'calls'], rows)}\n\n"
        f"Of the {LIMIT} best matches for {COMPARED} of the queries, by rating every passage, "
        f"{found:.1%} are among the {LIMIT} results of a search with `min_score` 0. The latencies "
        "are those of the defaults, 5 results with a score of at least 0.5."
    )
    report.write("remediations", "Remediations: speed and exactness", "make bench", text)


def share_of_best_found(
    port: int, asked: Sequence[Arguments], exact: Callable[[Arguments, int], list[float]]
) -> float:
    """Compare scores, since several records may have the same."""
    shares: list[float] = []
    for arguments in asked:
        least = exact(arguments, LIMIT)[-1] - TIE
        client = Client(port)  # an idle connection would be closed while all are rated
        answer = client.call("remediation_search", **arguments, limit=LIMIT, min_score=0)
        good = sum(match["match_score"] >= least for match in answer["results"])
        shares.append(good / LIMIT)
    return sum(shares) / len(shares)


if __name__ == "__main__":
    main()
