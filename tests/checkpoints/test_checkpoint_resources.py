"""Who reads checkpoints by address is told when they change."""

import pytest

from contextd import pipeline, resources
from contextd.callers import Caller
from contextd.errors import Invalid
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_a_change_is_told(save: Save, call: Call, told: list[str | None]) -> None:
    saved = save("Moved logins to OAuth")
    call("checkpoint_update", id=saved, summary="Moved logins")
    call("checkpoint_delete", id=saved)

    address, newest = f"checkpoint://{saved}", "checkpoint://recent"
    assert told == [None, newest, address, newest, None, newest]


def test_a_path_that_can_be_of_no_project_is_refused(call: Call, caller: Caller) -> None:
    uri = "checkpoint://recent?project_path=%2Fw%2Fshop%2F"

    with pytest.raises(Invalid, match="project_path must be a clean path"):
        pipeline.call_operation(resources.at(uri).reading, {"uri": uri}, caller)
