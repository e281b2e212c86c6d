import dataclasses
from array import array
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import httpx2
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth import hashers
from django.core.cache import cache
from django.core.management.commands import flush
from django.test import override_settings
from hypothesis import is_hypothesis_test

from analytics import recording
from contextd import changes, garbage, operations, pipeline, search
from contextd.bus import Change
from contextd.callers import Caller, Entry
from contextd.models import Project
from contextd.operations import Operation
from contextd.search.embedding.backends import Vector
from contextd.search.embedding.local import LocalBackend
from tests.plain_http import ACCEPT
from tests.server import Server, environment, one_server, server, unmeasured_processes

__all__ = ["environment", "one_server", "server", "unmeasured_processes"]


class StrangerTo(Protocol):
    def __call__(self, *paths: str | Path) -> Caller: ...


class Call(Protocol):
    def __call__(self, name: str, /, **arguments: Any) -> Any: ...


LONG_FILES = {"test_up.py", "test_conformance.py", "test_mcp_stdio.py", "test_main_pages.py"}
OTHER_PROCESSES = {"server", "environment", "one_server"}
MEASURED_CASES = 2
"""Of each parametrised test; further ones mostly run the same lines with other values."""
EVERY_CASE = {"test_validation.py"}
"""Files whose tests run a line with each case."""
MANY_EXAMPLES = {"test_shipped_patterns.py", "test_speed.py", "test_isolation.py"}
"""Files with tests that run the same lines in loops."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest files first, so that they do not delay the end of the run."""
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
    cases: Counter[str] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        cases[function] += 1
        is_further = cases[function] > MEASURED_CASES and item.path.name not in EVERY_CASE
        if is_further or is_costly_to_measure(item):
            item.add_marker(pytest.mark.no_cover)


def is_costly_to_measure(item: pytest.Item) -> bool:
    """Return whether to leave the test out of coverage, which doubles the CPU time.

    This is so where the product runs in another process, whose start decides whether that is
    measured, and where many examples run the same lines.
    """
    return (
        not OTHER_PROCESSES.isdisjoint(getattr(item, "fixturenames", ()))
        or item.path.name in MANY_EXAMPLES
        or is_hypothesis_test(getattr(item, "obj", None))
    )


def pytest_collection_finish() -> None:
    garbage.spare_imports()


FILLED = """
SELECT relname, EXISTS (SELECT FROM pg_constraint WHERE confrelid = pg_class.oid)
FROM pg_class WHERE relname = ANY(%s) AND pg_relation_size(oid) > 0
ORDER BY relname
"""


@pytest.fixture(autouse=True, scope="session")
def quick_flush() -> Iterator[None]:
    """Empty only tables with rows after a transactional test, except for shipped rows.

    Truncating all tables takes longer than most tests. Content types and permissions stay.
    """
    migration = import_module("contexts.migrations.0004_default_context")

    def statements(style: Any, connection: Any, **options: Any) -> list[str]:
        tables = set(connection.introspection.django_table_names(only_existing=True))
        with connection.cursor() as cursor:
            cursor.execute(FILLED, [list(tables - {"django_content_type", "auth_permission"})])
            filled = dict(cursor.fetchall())
        # Tables without references are truncated, so that no index keeps deleted entries.
        free = [table for table, is_referred_to in filled.items() if not is_referred_to]
        return [
            "SET LOCAL session_replication_role = replica",  # disables foreign key checks
            # In a deadlock with a process that still writes, Postgres aborts the other side.
            "SET LOCAL deadlock_timeout = '1min'",
            *(f"DELETE FROM {table}" for table in filled if filled[table]),  # noqa: S608
            *([f"TRUNCATE {', '.join(free)}"] if free else []),
        ]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flush, "sql_flush", statements)
        patched.setattr(
            flush, "emit_post_migrate_signal", lambda *args, **kwargs: migration.ship(apps, None)
        )
        yield


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """Hash quickly: a secure hash takes half a second, and many tests log in."""
    quick = f"{hashers.__name__}.MD5PasswordHasher"
    with override_settings(PASSWORD_HASHERS=[quick, *settings.PASSWORD_HASHERS]):
        yield


@pytest.fixture(autouse=True, scope="session")
def events_when_asked() -> Iterator[None]:
    """Store recorded calls only when a test asks for it, not periodically."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recording.buffer, "seconds", None)
        yield
        recording.buffer.clear()


@pytest.fixture(autouse=True, scope="session")
def each_text_embedded_once() -> Iterator[None]:
    """Remember each vector, since most texts are embedded by several tests."""
    run, of_backends = LocalBackend._run, WeakKeyDictionary[LocalBackend, dict[bytes, Vector]]()

    def run_once(backend: LocalBackend, ids: list[int]) -> Vector:
        vectors = of_backends.setdefault(backend, {})
        key = array("i", ids).tobytes()
        if key not in vectors:
            vectors[key] = run(backend, ids)
        return vectors[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LocalBackend, "_run", run_once)
        yield


@pytest.fixture(autouse=True)
def fresh_rate_limits() -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def no_events_of_others() -> None:
    recording.buffer.clear()


@pytest.fixture
def caller() -> Caller:
    """Return a caller who may use everything."""
    return Caller(principal="tester", door="cli", entry=Entry(), connection="test")


@pytest.fixture
def stranger_to(caller: Caller) -> StrangerTo:
    """Return a caller who sees every project but those of the given paths."""

    def stranger_to(*paths: str | Path) -> Caller:
        seen = Project.objects.exclude(paths__path__in=map(str, paths))
        ids = frozenset(seen.values_list("pk", flat=True))
        return dataclasses.replace(caller, entry=Entry(projects=ids))

    return stranger_to


@pytest.fixture(scope="session")
def warm_model() -> None:
    """Load the embedding model, as servers do before they are ready, so that no call waits."""
    search.warm_up()


@pytest.fixture
def call(transactional_db: None, caller: Caller, warm_model: None) -> Call:
    """Run an operation the way every door does: `call("checkpoint_save", summary=...)`."""

    def call(name: str, /, **arguments: Any) -> Any:
        return pipeline.call(name, arguments, caller)

    return call


@pytest.fixture
def told() -> Iterator[list[str | None]]:
    """The addresses that are told of as changed; None for a list."""
    heard: list[str | None] = []

    def hear(told: changes.Announcement) -> None:
        if isinstance(told, Change):
            heard.append(told.uri)

    end = changes.subscribe(hear)
    yield heard
    end()


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    """Yield a plain HTTP client of the server."""
    with httpx2.Client(base_url=server.url, headers={"Accept": ACCEPT}, timeout=30) as client:
        yield client


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def declared() -> Iterator[dict[str, Operation]]:
    """Yield the registry of operations, restored after the test."""
    before = dict(operations._registry)
    yield operations._registry
    operations._registry.clear()
    operations._registry.update(before)
