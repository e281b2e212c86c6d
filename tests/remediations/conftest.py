import dataclasses
from typing import Any, Protocol

import pytest

from contextd.callers import Caller, Entry
from contextd.models import Project
from tests.conftest import Call
from tests.contextd.conftest import anyio_backend, http
from tests.server import environment, one_server, server

__all__ = ["anyio_backend", "environment", "http", "one_server", "server"]


class Save(Protocol):
    def __call__(self, error_message: str, **fields: Any) -> str: ...


class StrangerTo(Protocol):
    def __call__(self, *paths: str) -> Caller: ...


@pytest.fixture
def save(call: Call, settings: Any) -> Save:
    """Save a remediation, as many as wanted; returns its id."""
    settings.CONTEXTD_RATE_LIMITS = False

    def save(error_message: str, **fields: Any) -> str:
        given = {"error_type": "Error", "solution": f"Fixed: {error_message}", **fields}
        return str(call("remediation_save", error_message=error_message, **given).id)

    return save


@pytest.fixture
def stranger_to(caller: Caller) -> StrangerTo:
    """A caller who sees every project but those of the given paths."""

    def stranger_to(*paths: str) -> Caller:
        seen = Project.objects.exclude(paths__path__in=paths).values_list("pk", flat=True)
        return dataclasses.replace(caller, entry=Entry(projects=frozenset(seen)))

    return stranger_to
