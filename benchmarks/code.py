"""`make eval`, code: search in indexed repositories, compared with three plain rankings."""

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from benchmarks import published, quality, report, sets
from contextd import auth
from contextd.search import backlog, embedding
from contextd.search.embedding import EmbeddingUnavailable
from repositories import services

DEPTH = 10
EMBEDDED_IN = 20
FULL_TEXT = """
SELECT number FROM plain_text, (
    SELECT replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery AS asked
) AS query WHERE repo = %s AND words @@ asked
ORDER BY ts_rank(words, asked, 1) DESC, number LIMIT %s
"""


@dataclass(frozen=True)
class Task:
    """A corpus and its queries; a query that names a repository searches only there."""

    name: str
    corpus: str
    queries: str


TASKS = [
    Task("commit", "code/files.jsonl", "code/commit_queries.jsonl"),
    Task("docstring", "code/functions.jsonl", "code/docstring_queries.jsonl"),
    Task("cosqa", "code/cosqa_corpus.jsonl", "code/cosqa_queries.jsonl"),
]


@dataclass(frozen=True)
class Document:
    """A file, or a function stored as a separate file under the name of its module."""

    number: int
    name: str
    repo: str
    path: str
    text: str


def main() -> None:
    ways, sizes = [], []
    for task in TASKS:
        documents = [document_of(*numbered) for numbered in enumerate(sets.read(task.corpus))]
        queries = sets.queries(task.queries)
        ways += [
            by_contextd(documents, queries),
            by_full_text(documents, queries),
            *by_meaning(documents, queries),
        ]
        sizes.append(f"{len(documents)} {task.name}")
    text = (
        f"Files: {', '.join(sizes)}. Written to folders, indexed and embedded by contextd like any "
        "repository, in one process, without HTTP. *Full text*: `ts_rank` of PostgreSQL, any "
        "word of the query. *Dense*: cosine of the first 256 tokens of a file, the same model.\n\n"
        f"{quality.table(*ways)}"
    )
    report.write("code", "Code: quality", "make eval", text)


def document_of(number: int, record: dict[str, Any]) -> Document:
    module = record.get("path", "module.py")
    path = f"{module.removesuffix('.py')}/{number}.py" if "name" in record else module
    path = path if "path" in record else f"{number}.py"
    return Document(number, record["id"], record.get("repo", "all"), path, record["text"])


def by_contextd(documents: Sequence[Document], queries: Sequence[sets.Query]) -> quality.Ranked:
    with tempfile.TemporaryDirectory(prefix="contextd-eval-") as folder:
        root = Path(folder).resolve()
        fill(root, documents)
        index(root / repo for repo in sorted({one.repo for one in documents}))
        names = {(one.repo, one.path): one.name for one in documents}
        return ask(root, names, queries)


def fill(root: Path, documents: Iterable[Document]) -> None:
    for one in documents:
        file = root / one.repo / one.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(one.text, encoding="utf-8")


def index(folders: Iterable[Path]) -> None:
    """Index for search by words, then embed what has no vector yet, as a worker does."""
    for folder in folders:
        started = services.begin(
            auth.local_caller("cli"),
            path=str(folder),
            include_patterns=[],
            exclude_patterns=[],
            max_file_size=10_000_000,
            queued=False,
        )
        services.index(started.job_id)
    for _ in range(EMBEDDED_IN):
        with suppress(EmbeddingUnavailable):  # slow on a busy machine
            for _ in backlog.embed_batches():
                pass
    if left := backlog.count_pending():
        raise RuntimeError(f"{left} passages could not be embedded")


def ask(
    root: Path, names: Mapping[tuple[str, str], str], queries: Sequence[sets.Query]
) -> quality.Ranked:
    embedding.warm_up()
    caller = auth.local_caller("cli")
    rankings, times = [], []
    for query in queries:
        repo = query.repo or "all"
        started = time.perf_counter()
        found = services.find(
            caller,
            query=query.text,
            limit=DEPTH,
            project_path=str(root / repo),
            git_remote=None,
            paths=[],
            languages=[],
        )
        times.append((time.perf_counter() - started) * 1000)
        rankings.append((query, [names[repo, match.file.path] for match in found.matches]))
    return quality.Ranked("contextd", rankings, times)


def by_full_text(documents: Sequence[Document], queries: Sequence[sets.Query]) -> quality.Ranked:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS plain_text")
        cursor.execute("CREATE TEMP TABLE plain_text (number int, repo text, words tsvector)")
        cursor.executemany(
            "INSERT INTO plain_text VALUES (%s, %s, to_tsvector('english', %s))",
            [(one.number, one.repo, f"{one.path}\n{one.text}") for one in documents],
        )
        rankings = []
        for query in queries:
            cursor.execute(FULL_TEXT, [query.text, query.repo or "all", DEPTH])
            rankings.append((query, [documents[number].name for (number,) in cursor.fetchall()]))
    return quality.Ranked("full text", rankings)


def by_meaning(
    documents: Sequence[Document], queries: Sequence[sets.Query]
) -> Iterator[quality.Ranked]:
    """Yield the ranking by cosine alone, and that of the rule with edit distance."""
    texts = [f"{one.path}\n{one.text}" for one in documents]
    asked = [query.text for query in queries]
    rated = published.rate(
        published.Side(asked, asked), published.Side(texts, texts), settings.DATA_DIR / "models"
    )
    for name, scores in (("dense", rated.semantic), (published.NAME, rated.match)):
        rankings = []
        for query, row in zip(queries, scores, strict=True):
            best = published.best(row, documents, len(documents))
            own = [one.name for one, _ in best if one.repo == (query.repo or "all")]
            rankings.append((query, own[:DEPTH]))
        yield quality.Ranked(name, rankings)


if __name__ == "__main__":
    main()
