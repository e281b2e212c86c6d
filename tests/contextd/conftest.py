from collections.abc import Iterator

import httpx2
import pytest

from tests.plain_http import ACCEPT
from tests.server import Server, environment, one_server, server

__all__ = ["environment", "one_server", "server"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    """A plain client of the server."""
    with httpx2.Client(base_url=server.url, headers={"Accept": ACCEPT}, timeout=30) as client:
        yield client
