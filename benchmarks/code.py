"""`make eval`, code: functions and files as plain documents of the search engine."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from benchmarks import published, quality, report, sets
from contextd import search
from contextd.models import Project
from contextd.search import backlog, embedding


@dataclass(frozen=True)
class Task:
    """A corpus and its queries; a query is asked within its repository, where it has one."""

    name: str
    corpus: str
    queries: str


TASKS = [
    Task("docstring", "code/functions.jsonl", "code/docstring_queries.jsonl"),
    Task("cosqa", "code/cosqa_corpus.jsonl", "code/cosqa_queries.jsonl"),
    Task("commit", "code/files.jsonl", "code/commit_queries.jsonl"),
]


@dataclass(frozen=True)
class Document:
    """`number` is the record's in the search engine."""

    number: int
    name: str
    repo: str
    headline: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.headline}\n{self.body}".strip()


def main() -> None:
    ways, sizes = [], []
    for task in TASKS:
        documents = [document_of(*numbered) for numbered in enumerate(sets.read(task.corpus))]
        queries = sets.queries(task.queries)
        projects = {repo: project_of(repo) for repo in {one.repo for one in documents}}
        store(task.name, documents, projects)
        ways += [
            ask(task.name, queries, documents, projects),
            as_published(task.name, queries, documents),
        ]
        sizes.append(f"{len(documents)} {task.name}")
    text = (
        f"Documents: {', '.join(sizes)}. Plain documents of the search engine, without what an "
        "index of code knows of code; in one process, without HTTP.\n\n"
        f"{quality.table(*ways)}"
    )
    report.write("code", "Code as plain documents: quality", "make eval", text)


def document_of(number: int, record: dict[str, Any]) -> Document:
    headline = "\n".join(record[key] for key in ("path", "name") if key in record)
    return Document(number, record["id"], record.get("repo", ""), headline, record["text"])


def project_of(repo: str) -> int | None:
    return Project.objects.get_or_create(name=repo)[0].pk if repo else None


def store(domain: str, documents: Sequence[Document], projects: Mapping[str, int | None]) -> None:
    """Found by words at once; then all that has no vector yet is embedded, as a worker does."""
    for repo, project in projects.items():
        texts = {
            one.number: search.cut(one.headline, one.body) for one in documents if one.repo == repo
        }
        with transaction.atomic():
            search.store_many(domain, project, texts)
    for _ in backlog.embed_batches():
        pass
    if left := backlog.count_pending():
        raise RuntimeError(f"{left} passages could not be embedded")


def ask(
    domain: str,
    queries: Sequence[sets.Query],
    documents: Sequence[Document],
    projects: Mapping[str, int | None],
) -> quality.Ranked:
    embedding.warm_up()
    rankings, times = [], []
    for query in queries:
        project = projects[query.repo]
        started = time.perf_counter()
        found = search.find(
            query.text,
            domain=domain,
            projects=frozenset() if project is None else frozenset([project]),
            limit=10,
        )
        times.append((time.perf_counter() - started) * 1000)
        rankings.append((query, [documents[hit.record_id].name for hit in found.hits]))
    return quality.Ranked("contextd", rankings, times)


def as_published(
    domain: str, queries: Sequence[sets.Query], documents: Sequence[Document]
) -> quality.Ranked:
    asked, texts = [query.text for query in queries], [one.text for one in documents]
    rated = published.rate(
        published.Side(asked, asked),
        published.Side(texts, texts),
        settings.DATA_DIR / "models",
    )
    rankings = []
    for query, row in zip(queries, rated.match, strict=True):
        own = [one for one in documents if one.repo == query.repo]
        scores = row[[one.number for one in own]]
        best = published.best(scores, [one.name for one in own], 10)
        rankings.append((query, [name for name, _ in best]))
    return quality.Ranked(published.NAME, rankings)


if __name__ == "__main__":
    main()
