"""`make eval`, notes: every record saved through MCP as a checkpoint, every query asked there."""

from benchmarks import report, server, sets
from benchmarks.client import Client

SUMMARY, DESCRIPTION = 500, 5000


def checkpoint_of(text: str) -> dict[str, str]:
    """The first line is the summary; what does not fit there is the description."""
    head, _, rest = text.strip().partition("\n")
    summary = head[:SUMMARY]
    return {"summary": summary, "description": (head[SUMMARY:] + "\n" + rest).strip()[:DESCRIPTION]}


def save_all(client: Client) -> tuple[dict[str, str], list[float]]:
    """The evaluation set's id of each checkpoint id, and the milliseconds of each save."""
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
    with server.running() as running:
        client = Client(running.port)
        names, save_times = save_all(client)
        rankings, search_times = [], []
        for query in sets.queries("notes/queries.jsonl"):
            found, took = client.timed("checkpoint_search", query=query.text[:1000], top_k=10)
            ranking = [names[match["id"]] for match in found["results"]]
            rankings.append((query, ranking))
            search_times.append(took)
    text = describe(rankings, save_times, search_times)
    report.write("notes", "Notes as checkpoints: quality", "make eval", text)


def describe(
    rankings: list[tuple[sets.Query, list[str]]], saves: list[float], searches: list[float]
) -> str:
    rows = []
    for subset in ["all", *sorted({query.subset for query, _ in rankings})]:
        chosen = [pair for pair in rankings if subset in ("all", pair[0].subset)]
        found = sets.quality(chosen)
        figures = (found.recall_1, found.recall_5, found.recall_10, found.mrr, found.ndcg)
        rows.append([subset, str(len(chosen)), *(f"{figure:.3f}" for figure in figures)])
    heads = ["subset", "queries", "recall@1", "recall@5", "recall@10", "MRR@10", "nDCG@10"]
    return (
        f"{len(saves)} checkpoints, each saved by `checkpoint_save` over MCP into the project it "
        "comes from; the development queries asked by `checkpoint_search` over all projects.\n\n"
        f"{report.table(heads, rows)}\n\n"
        f"While doing so: save {spread(saves)}, search {spread(searches)}."
    )


def spread(times: list[float]) -> str:
    half, most = (sets.percentile(times, share) for share in (0.5, 0.95))
    return f"p50 {half:.1f} ms, p95 {most:.1f} ms"


if __name__ == "__main__":
    main()
