"""Writers that change the same words at the same time."""

import random
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction

from contextd import search
from contextd.models import Project
from contextd.search.preparing import Prepared
from tests.search.conftest import DOMAIN, Find, ids
from tests.search.embedding_server import EmbeddingServer
from tests.search.test_store import assert_counts_are_exact

WRITERS = 4
ROUNDS = 12


def test_concurrent_saves_neither_deadlock_nor_miscount(
    server: EmbeddingServer, transactional_db: None, find: Find
) -> None:
    projects = [Project.objects.create(name=name).pk for name in ("shop", "bank")]
    words = [f"word{number}" for number in range(60)]

    def write(writer: int) -> None:
        choose = random.Random(writer)  # noqa: S311  (the same texts each time)
        try:
            for turn in range(ROUNDS):
                record_id = writer * ROUNDS + turn
                text = " ".join(choose.sample(words, 40))
                save(record_id, choose.choice(projects), search.prepare("Note", text))
                if turn % 3 == 2:
                    search.forget(DOMAIN, [record_id - 1])
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))

    assert len(ids(find("note", limit=100))) == WRITERS * ROUNDS * 2 // 3
    assert_counts_are_exact()


def save(record_id: int, project_id: int, prepared: Prepared) -> None:
    with transaction.atomic():
        search.store(DOMAIN, record_id, project_id, prepared)
