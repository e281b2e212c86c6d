import pytest
from pytest_django.fixtures import Settings

from contextd.search import checks, health
from contextd.status import Unhealthy
from tests.search.conftest import UseServer
from tests.search.embedding_server import EmbeddingServer, failing


@pytest.fixture(autouse=True)
def not_probed_yet() -> None:
    health._probes.clear()


def test_a_backend_that_embeds_is_healthy_and_is_not_asked_again_at_once(
    server: EmbeddingServer,
) -> None:
    health.probe_embedding()
    health.probe_embedding()

    assert len(server.requests) == 1


def test_a_backend_that_fails_is_said_to(server: EmbeddingServer) -> None:
    server.next_answers.append(failing(401))

    for _ in range(2):
        with pytest.raises(Unhealthy, match=r"answers 401.*found by its words"):
            health.probe_embedding()
    assert len(server.requests) == 1


def test_a_model_that_nothing_serves_is_refused(settings: Settings, use_server: UseServer) -> None:
    chosen = {"embedding_model": "bge-small"}
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=chosen)
    (error,) = checks.check_embedding_model()
    assert error.msg == "EMBEDDING_MODEL=bge-small needs EMBEDDING_BASE_URL"

    use_server("http://127.0.0.1:9/v1", model="bge-small")
    assert not checks.check_embedding_model()
