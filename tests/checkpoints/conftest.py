from typing import Any, Protocol

import pytest

from tests.conftest import Call


class Save(Protocol):
    def __call__(self, summary: str, **fields: Any) -> str: ...


@pytest.fixture
def save(call: Call) -> Save:
    """Save a checkpoint of /w/shop unless told otherwise; returns its id."""

    def save(summary: str, **fields: Any) -> str:
        saved = call("checkpoint_save", **{"project_path": "/w/shop", "summary": summary, **fields})
        return str(saved.id)

    return save


@pytest.fixture
def stranger_to(caller: Any) -> Any:
    """A caller who sees every project but those of the given paths."""
    import dataclasses

    from contextd.models import Project

    def stranger_to(*paths: str) -> Any:
        seen = Project.objects.exclude(paths__path__in=paths).values_list("pk", flat=True)
        return dataclasses.replace(caller, projects=frozenset(seen))

    return stranger_to
