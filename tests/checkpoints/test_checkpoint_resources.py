"""Who reads checkpoints by address is told when they change."""

from collections.abc import Iterator

import pytest

from contextd import changes
from contextd.bus import Change
from tests.checkpoints.conftest import Save
from tests.conftest import Call


@pytest.fixture
def told() -> Iterator[list[str | None]]:
    """The addresses that were told; None for the list."""
    heard: list[str | None] = []

    def hear(told: changes.Told) -> None:
        if isinstance(told, Change):
            heard.append(told.uri)

    end = changes.subscribe(hear)
    yield heard
    end()


def test_a_change_is_told(save: Save, call: Call, told: list[str | None]) -> None:
    saved = save("Moved logins to OAuth")
    call("checkpoint_update", id=saved, summary="Moved logins")
    call("checkpoint_delete", id=saved)

    address = f"checkpoint://{saved}"
    assert told == [None, address, None]
