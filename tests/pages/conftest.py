import pytest
from django.test import Client

from tests.analytics.conftest import counted, happened

__all__ = ["counted", "happened"]


@pytest.fixture
def here() -> Client:
    """A browser on this machine, where nobody has to log in."""
    return Client(headers={"Host": "localhost"})
