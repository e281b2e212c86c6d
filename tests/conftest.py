from collections.abc import Iterator
from typing import Any, Protocol

import pytest
from django.core.cache import cache

from contextd import operations, pipeline
from contextd.callers import Caller
from contextd.operations import Operation


class Call(Protocol):
    def __call__(self, name: str, **arguments: Any) -> Any: ...


@pytest.fixture(autouse=True)
def fresh_rate_limits() -> None:
    cache.clear()


@pytest.fixture
def caller() -> Caller:
    return Caller(principal="tester", door="cli", connection="test")


@pytest.fixture
def call(transactional_db: None, caller: Caller) -> Call:
    """Run an operation the way every door does: `call("checkpoint_save", summary=...)`."""

    def call(name: str, **arguments: Any) -> Any:
        return pipeline.call(name, arguments, caller)

    return call


@pytest.fixture
def declared() -> Iterator[dict[str, Operation]]:
    """The registry, put back as it was when the test ends."""
    before = dict(operations._registry)
    yield operations._registry
    operations._registry.clear()
    operations._registry.update(before)
