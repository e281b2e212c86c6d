from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from contextd import pipeline, search
from contextd.errors import NotFound
from remediations.models import Remediation
from tests.conftest import Call, StrangerTo
from tests.locking import in_thread, wait_for_somebody_waiting
from tests.remediations.conftest import Save


def test_it_is_gone_from_every_place(call: Call, save: Save) -> None:
    gone, kept = save("the zeppelin burns"), save("the zeppelin leaks")

    deleted = call("remediation_delete", id=gone)

    assert deleted.message == f"remediation {gone} is deleted"
    assert [str(one.pk) for one in Remediation.objects.all()] == [kept]
    found = call("remediation_search", error_message="the zeppelin burns", min_score=0)
    assert [one.id for one in found.results] == [kept]


def test_it_waits_for_a_change_without_keeping_that_from_what_it_needs(
    call: Call, save: Save
) -> None:
    saved = save("boom")
    with ThreadPoolExecutor() as pool, transaction.atomic():
        project = Remediation.objects.select_for_update().get(pk=saved).project_id
        deleting = pool.submit(in_thread, call, "remediation_delete", id=saved)
        wait_for_somebody_waiting()
        search.store("remediation", int(saved), project, search.cut("boom"))
    deleting.result()

    assert not Remediation.objects.exists()


def test_deleting_it_twice_says_that_it_is_not_there(call: Call, save: Save) -> None:
    saved = save("boom")
    call("remediation_delete", id=saved)

    with pytest.raises(NotFound):
        call("remediation_delete", id=saved)


def test_one_of_a_project_that_is_not_granted_stays(save: Save, stranger_to: StrangerTo) -> None:
    secret = save("secret", project_path="/w/secret")

    with pytest.raises(NotFound):
        pipeline.call("remediation_delete", {"id": secret}, stranger_to("/w/secret"))
    assert Remediation.objects.exists()
