from typing import Any

import pytest

from checkpoints.models import Checkpoint
from contextd import pipeline
from contextd.errors import NotFound
from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_it_is_gone_from_every_place(call: Call, save: Save) -> None:
    gone, kept = save("The zeppelin hangar"), save("The submarine dock")

    deleted = call("checkpoint_delete", id=gone)

    assert deleted.message == f"checkpoint {gone} is deleted"
    assert [one.id for one in call("checkpoint_list").checkpoints] == [kept]
    assert [one.id for one in call("checkpoint_search", query="zeppelin").results] == [kept]


def test_deleting_it_twice_says_that_it_is_not_there(call: Call, save: Save) -> None:
    saved = save("one")
    call("checkpoint_delete", id=saved)

    with pytest.raises(NotFound):
        call("checkpoint_delete", id=saved)


def test_one_of_a_project_that_is_not_granted_stays(
    call: Call, save: Save, stranger_to: Any
) -> None:
    secret = save("secret", project_path="/w/secret")

    with pytest.raises(NotFound):
        pipeline.call("checkpoint_delete", {"id": secret}, stranger_to("/w/secret"))
    assert Checkpoint.objects.exists()
