"""`make bench`, shipped knowledge: latency of `troubleshoot` and `tmkb_query` over `/mcp`."""

from benchmarks import labelled, report, server
from benchmarks.checkpoints import figures
from benchmarks.client import Client
from benchmarks.server import ROOT

QUERIES = ROOT / "tests/threats/queries.tsv"
WARM = 20


def errors() -> list[str]:
    return [case.error for case in (*labelled.cases(), *labelled.same_wordings())]


def contexts() -> list[str]:
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    return [line.partition("\t")[0] for line in lines if not line.startswith("#")]


def measured(client: Client, name: str, argument: str, asked: list[str]) -> list[float]:
    """Time each call but the first few, in milliseconds."""
    return [client.timed(name, **{argument: text})[1] for text in asked][WARM:]


def main() -> None:
    with server.running(server.SHIPPED) as running:
        client = Client(running.port)
        diagnoses = measured(client, "troubleshoot", "error_message", errors())
        threats = measured(client, "tmkb_query", "context", contexts())
    rows = [["`troubleshoot`", *figures(diagnoses)], ["`tmkb_query`", *figures(threats)]]
    text = (
        "The shipped patterns and threats, with the labelled errors and queries of the tests; "
        "raw keep-alive HTTP to `/mcp`, protocol 2026-07-28, one client, warm, every query new, "
        "rate limits off, no language model.\n\n"
        f"{report.table(['call', 'p50 ms', 'p95 ms', 'p99 ms', 'calls'], rows)}"
    )
    report.write("knowledge", "Diagnoses and threats: speed", "make bench", text)


if __name__ == "__main__":
    main()
