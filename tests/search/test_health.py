import pytest

from contextd.search import health
from contextd.status import Unhealthy
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
        with pytest.raises(Unhealthy, match=r"answers 401.*found by words only"):
            health.probe_embedding()
    assert len(server.requests) == 1
