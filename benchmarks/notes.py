"""`make eval`, notes: save every record as a checkpoint and run every query, over MCP."""

from pathlib import Path

from benchmarks import published, quality, report, server, sets
from benchmarks.client import Client

SUMMARY, DESCRIPTION = 500, 5000


def checkpoint_of(text: str) -> dict[str, str]:
    """Use the first line as the summary and the rest as the description."""
    head, _, rest = text.strip().partition("\n")
    summary = head[:SUMMARY]
    return {"summary": summary, "description": (head[SUMMARY:] + "\n" + rest).strip()[:DESCRIPTION]}


def save_all(client: Client) -> tuple[dict[str, str], list[float]]:
    """Return the evaluation set's id by checkpoint id, and the milliseconds of each save."""
    names, times = {}, []
    for record in sets.read("notes/corpus.jsonl"):
        path = f"/eval/{record['project']}"
        saved, took = client.timed(
            "checkpoint_save", project_path=path, **checkpoint_of(record["text"])
        )
        names[saved["id"]] = record["id"]
        times.append(took)
    return names, times


def main() -> None:
    queries = sets.queries("notes/queries.jsonl")
    with server.running() as running:
        client = Client(running.port)
        names, save_times = save_all(client)
        rankings, search_times = [], []
        for query in queries:
            found, took = client.timed("checkpoint_search", query=query.text[:1000], top_k=10)
            rankings.append((query, [names[match["id"]] for match in found["results"]]))
            search_times.append(took)
        theirs = rank_as_published(queries, running.data_dir / "models")
    table = quality.table(
        quality.Ranked("contextd", rankings, search_times), quality.Ranked(published.NAME, theirs)
    )
    text = (
        f"{len(names)} checkpoints, each saved by `checkpoint_save` over MCP into the project it "
        "comes from; the development queries run by `checkpoint_search` over all projects, "
        "compared with a rule of 70 % cosine similarity and 30 % edit distance.\n\n"
        f"{table}\n\n"
        f"Latencies: save {spread(save_times)}, search {spread(search_times)}."
    )
    report.write("notes", "Notes as checkpoints: quality", "make eval", text)


def rank_as_published(queries: list[sets.Query], models: Path) -> quality.Rankings:
    records = sets.read("notes/corpus.jsonl")
    texts, asked = [record["text"] for record in records], [query.text for query in queries]
    rated = published.rate(published.Side(asked, asked), published.Side(texts, texts), models)
    ids = [record["id"] for record in records]
    return [
        (query, [name for name, _ in published.best(row, ids, 10)])
        for query, row in zip(queries, rated.match, strict=True)
    ]


def spread(times: list[float]) -> str:
    half, most = (sets.percentile(times, share) for share in (0.5, 0.95))
    return f"p50 {half:.1f} ms, p95 {most:.1f} ms"


if __name__ == "__main__":
    main()
