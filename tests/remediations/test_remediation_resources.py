"""Remediations are read by address, and who reads one is told when it changes."""

from collections.abc import Iterator

import pytest

from contextd import changes, pipeline, resources
from contextd.bus import Change
from contextd.callers import Caller
from contextd.resources import Contents
from tests.conftest import Call


@pytest.fixture
def saved(call: Call) -> str:
    """The id of a remediation."""
    remediation_id: str = call(
        "remediation_save",
        error_message="port 80 is taken",
        error_type="OSError",
        stack_trace="at bind()",
        solution="stop the other server",
        tags=["net"],
    ).id
    return remediation_id


@pytest.fixture
def told() -> Iterator[list[str | None]]:
    heard: list[str | None] = []

    def hear(told: changes.Told) -> None:
        if isinstance(told, Change):
            heard.append(told.uri)

    end = changes.subscribe(hear)
    yield heard
    end()


def test_a_remediation_is_read_whole(saved: str, caller: Caller) -> None:
    uri = f"remediation://{saved}"

    found = pipeline.perform(resources.at(uri).reading, {"uri": uri}, caller)

    assert isinstance(found, Contents)
    assert found.text.startswith("OSError: port 80 is taken\nseen 1 times, worked 0 times")
    assert found.text.endswith("tags: net\n\nat bind()\n\nSolution:\nstop the other server")


def test_a_change_is_told(saved: str, call: Call, told: list[str | None]) -> None:
    call("remediation_update", id=saved, solution="use another port")

    assert told == [f"remediation://{saved}"]
