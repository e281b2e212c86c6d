import pytest
from django.test import Client

from tests.analytics.conftest import counted, happened
from tests.server import environment, one_server, server

__all__ = ["counted", "environment", "happened", "one_server", "server"]


@pytest.fixture
def here() -> Client:
    """A browser on this machine, where nobody has to log in."""
    return Client(headers={"Host": "localhost"})
