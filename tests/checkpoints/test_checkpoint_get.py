from typing import Any

import pytest

from contextd import pipeline
from contextd.errors import NotFound
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_it_reads_the_whole_checkpoint(call: Call, save: Save) -> None:
    saved = save("one", description="all", context={"a": "b"}, tags=["t"])

    checkpoint = call("checkpoint_get", id=saved)
    assert (checkpoint.id, checkpoint.summary, checkpoint.description) == (saved, "one", "all")
    assert (checkpoint.context, checkpoint.tags) == ({"a": "b"}, ["t"])


@pytest.mark.parametrize("unknown", ["999999", "cp-1", "-1", "9" * 60, "\u0661"])
def test_an_unknown_id_is_said(call: Call, unknown: str) -> None:
    with pytest.raises(NotFound, match="there is no checkpoint with id"):
        call("checkpoint_get", id=unknown)


def test_one_of_a_project_that_is_not_granted_is_unknown(
    call: Call, save: Save, stranger_to: Any
) -> None:
    secret = save("secret", project_path="/w/secret")

    with pytest.raises(NotFound):
        pipeline.call("checkpoint_get", {"id": secret}, stranger_to("/w/secret"))
