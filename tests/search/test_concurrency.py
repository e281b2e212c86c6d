"""Writers that change the same words at the same time, while a worker embeds."""

import random
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import connection, transaction

from contextd import search
from contextd.models import Project
from contextd.search import backlog
from contextd.search.preparing import Prepared
from tests.search.conftest import DOMAIN, Find, ids
from tests.search.embedding_server import EmbeddingServer
from tests.search.test_store import assert_counts_are_exact

WRITERS = 4
ROUNDS = 12
WORDS = [f"word{number}" for number in range(60)]


def test_concurrent_writers_neither_deadlock_nor_miscount(
    server: EmbeddingServer, transactional_db: None, find: Find
) -> None:
    projects = [Project.objects.create(name=name).pk for name in ("shop", "bank")]
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, writer, projects) for writer in range(WRITERS)]
        while not all(map(Future.done, writers)):
            search.embed_pending()
        for writer in writers:
            writer.result()
    search.embed_pending()

    assert len(ids(find("note", limit=100))) == WRITERS * ROUNDS * 2 // 3
    assert backlog.count_pending() == 0
    assert_counts_are_exact()


def write(writer: int, projects: list[int]) -> None:
    """Each third record is forgotten again, and each second one waits to be embedded."""
    choose = random.Random(writer)  # noqa: S311  (the same texts each time)
    try:
        for turn in range(ROUNDS):
            record_id = writer * ROUNDS + turn
            prepare = search.cut if turn % 2 else search.prepare
            text = prepare("Note", " ".join(choose.sample(WORDS, 40)))
            save(record_id, choose.choice(projects), text)
            if turn % 3 == 2:
                search.forget(DOMAIN, [record_id - 1])
    finally:
        connection.close()


def save(record_id: int, project_id: int, prepared: Prepared) -> None:
    with transaction.atomic():
        search.store(DOMAIN, record_id, project_id, prepared)
