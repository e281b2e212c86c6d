import dataclasses
from typing import Any, Protocol

import pytest

from contextd.callers import Caller, Entry
from contextd.models import Project
from tests.conftest import Call


class Save(Protocol):
    def __call__(self, summary: str, **fields: Any) -> str: ...


class StrangerTo(Protocol):
    def __call__(self, *paths: str) -> Caller: ...


@pytest.fixture
def save(call: Call, settings: Any) -> Save:
    """Save a checkpoint of /w/shop unless told otherwise, as many as wanted; returns its id."""
    settings.CONTEXTD_RATE_LIMITS = False

    def save(summary: str, **fields: Any) -> str:
        saved = call("checkpoint_save", **{"project_path": "/w/shop", "summary": summary, **fields})
        return str(saved.id)

    return save


@pytest.fixture
def stranger_to(caller: Caller) -> StrangerTo:
    """A caller who sees every project but those of the given paths."""

    def stranger_to(*paths: str) -> Caller:
        seen = Project.objects.exclude(paths__path__in=paths).values_list("pk", flat=True)
        return dataclasses.replace(caller, entry=Entry(projects=frozenset(seen)))

    return stranger_to
