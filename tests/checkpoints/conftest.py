from typing import Any, Protocol

import pytest

from tests.conftest import Call


class Save(Protocol):
    def __call__(self, summary: str, **fields: Any) -> str: ...


@pytest.fixture
def save(call: Call, settings: Any) -> Save:
    """Save a checkpoint of /w/shop unless told otherwise, as many as wanted; returns its id."""
    settings.CONTEXTD_RATE_LIMITS = False

    def save(summary: str, **fields: Any) -> str:
        saved = call("checkpoint_save", **{"project_path": "/w/shop", "summary": summary, **fields})
        return str(saved.id)

    return save
