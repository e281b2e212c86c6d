from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import transaction

from checkpoints.models import Checkpoint
from contextd import pipeline, search
from contextd.errors import NotFound
from tests.checkpoints.conftest import Save
from tests.conftest import Call
from tests.locking import in_thread, wait_for_somebody_waiting


def test_it_is_gone_from_every_place(call: Call, save: Save) -> None:
    gone, kept = save("The zeppelin hangar"), save("The submarine dock")

    deleted = call("checkpoint_delete", id=gone)

    assert deleted.message == f"checkpoint {gone} is deleted"
    assert [one.id for one in call("checkpoint_list").checkpoints] == [kept]
    assert [one.id for one in call("checkpoint_search", query="zeppelin").results] == [kept]


def test_it_waits_for_a_change_without_keeping_that_from_what_it_needs(
    call: Call, save: Save
) -> None:
    saved = save("one")
    with ThreadPoolExecutor() as pool, transaction.atomic():
        Checkpoint.objects.select_for_update().get(pk=saved)
        deleting = pool.submit(in_thread, call, "checkpoint_delete", id=saved)
        wait_for_somebody_waiting()
        search.store("checkpoint", int(saved), Checkpoint.objects.get().project_id, search.cut("1"))
    deleting.result()

    assert not Checkpoint.objects.exists()


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
