from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from contextd import search
from contextd.models import Project
from contextd.search import embedding
from contextd.search.embedding.remote import RemoteBackend
from contextd.search.finding import Found
from tests.search.embedding_server import EmbeddingServer, running

DOMAIN = "note"

Save = Callable[..., None]
Find = Callable[..., Found]
UseServer = Callable[..., RemoteBackend]


@pytest.fixture(autouse=True)
def forgotten_queries() -> None:
    embedding._queries.clear()


@pytest.fixture
def use_server(settings: Settings) -> Iterator[UseServer]:
    """Embed by the server at that address from now on."""
    used: list[RemoteBackend] = []

    def use(base_url: str, model: str = "test-model", api_key: str = "") -> RemoteBackend:
        chosen = {
            "embedding_base_url": base_url,
            "embedding_model": model,
            "embedding_api_key": api_key,
        }
        settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=chosen)
        backend = embedding._backend()
        assert isinstance(backend, RemoteBackend)
        used.append(backend)
        return backend

    yield use
    for backend in used:
        backend._client.close()
    embedding._remote.cache_clear()


@pytest.fixture
def server(use_server: UseServer) -> Iterator[EmbeddingServer]:
    """An embedding server that works, in use."""
    with running(EmbeddingServer()) as server:
        use_server(server.base_url)
        yield server


@pytest.fixture
def no_backend(use_server: UseServer) -> None:
    """An address where nothing listens."""
    use_server("http://127.0.0.1:9/v1")


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(name="shop")


@pytest.fixture
def save(db: None) -> Save:
    """Store a text as the record with that id."""

    def save(
        record_id: int, headline: str, body: str = "", *, project: Project | None = None
    ) -> None:
        prepared = search.prepare(headline, body)
        with transaction.atomic():
            search.store(DOMAIN, record_id, project.pk if project else None, prepared)

    return save


@pytest.fixture
def find(db: None) -> Find:
    def find(query: str, **options: Any) -> Found:
        return search.find(query, **{"domain": DOMAIN, "projects": None, "limit": 10, **options})

    return find


def ids(found: Found) -> list[int]:
    return [hit.record_id for hit in found.hits]
