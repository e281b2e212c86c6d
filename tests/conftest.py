from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db.models.signals import post_migrate

from contextd import operations, pipeline, search
from contextd.callers import Caller, Entry
from contextd.operations import Operation


class Call(Protocol):
    def __call__(self, name: str, **arguments: Any) -> Any: ...


@pytest.fixture(autouse=True, scope="session")
def default_context_after_a_flush() -> Iterator[None]:
    """A transactional test ends with empty tables; what migrations ship is put back."""

    def ship(**signal: Any) -> None:
        if "plan" not in signal:  # so it is no migration
            migration.ship(apps, None)

    migration = import_module("contexts.migrations.0004_default_context")
    post_migrate.connect(ship, sender=apps.get_app_config("contexts"))
    yield
    post_migrate.disconnect(ship, sender=apps.get_app_config("contexts"))


@pytest.fixture(autouse=True)
def fresh_rate_limits() -> None:
    cache.clear()


@pytest.fixture
def caller() -> Caller:
    """Somebody who may use everything."""
    return Caller(principal="tester", door="cli", entry=Entry(), connection="test")


@pytest.fixture(scope="session")
def warm_model() -> None:
    """A server loads the embedding model before it is ready, and no call waits for that."""
    search.warm_up()


@pytest.fixture
def call(transactional_db: None, caller: Caller, warm_model: None) -> Call:
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
