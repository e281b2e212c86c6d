"""Remediations are read by address, and who reads one is told when it changes."""

import pytest

from contextd import pipeline, resources
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


def test_a_remediation_is_read_whole(saved: str, caller: Caller) -> None:
    uri = f"remediation://{saved}"

    found = pipeline.call_operation(resources.at(uri).reading, {"uri": uri}, caller)

    assert isinstance(found, Contents)
    assert found.text.startswith("OSError: port 80 is taken\nseen 1 times, worked 0 times")
    assert found.text.endswith("tags: net\n\nat bind()\n\nSolution:\nstop the other server")


def test_a_change_is_told(saved: str, call: Call, told: list[str | None]) -> None:
    call("remediation_update", id=saved, solution="use another port")

    call("remediation_delete", id=saved)

    assert told == [f"remediation://{saved}", None]
