"""How many queries a page asks, however many records and calls there are.

Home, search, live and records have such a test beside their others.
"""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from checkpoints.models import Checkpoint
from contextd.models import Project
from remediations.models import Remediation
from tests.analytics.conftest import Happened
from tests.conftest import Call

QUERIES = {
    "/dashboard/errors/": 9,
    "/dashboard/records/checkpoint/{pk}/related/": 20,
    "/api/dashboard/series/": 8,
    "/api/dashboard/latencies/": 8,
    "/api/dashboard/top/errors/": 8,
    "/api/dashboard/calls/": 5,
    "/api/dashboard/sessions/": 5,
    "/api/dashboard/audit/": 5,
    "/api/dashboard/records/checkpoint/": 5,
    "/api/dashboard/records/remediation/": 5,
    "/admin/": 4,
    "/admin/checkpoints/checkpoint/": 7,
    "/admin/remediations/remediation/": 7,
    "/admin/checkpoints/checkpoint/?q=disk": 10,
    "/admin/checkpoints/checkpoint/{pk}/change/": 5,
}


@pytest.mark.parametrize("address", QUERIES)
def test_more_records_ask_no_more_queries(
    call: Call, happened: Happened, address: str, django_assert_max_num_queries: Any
) -> None:
    keep_many(call, happened)
    browser = Client(headers={"Host": "localhost"})
    browser.force_login(User.objects.create_superuser("ann"))
    place = address.format(pk=Checkpoint.objects.latest("pk").pk)
    assert browser.get(place).status_code == 200

    with django_assert_max_num_queries(QUERIES[address]):
        browser.get(place)


def keep_many(call: Call, happened: Happened) -> None:
    for number in range(8):
        path = f"/w/shop{number}"
        call("checkpoint_save", summary=f"Disk {number} is full", project_path=path)
        call(
            "remediation_save",
            error_message=f"disk number {number} of the database is full",
            error_type="OSError",
            solution=f"Empty folder {number}",
            project_path=path,
        )
        project = Project.objects.get(paths__path=path)
        happened("troubleshoot", project=project, query=f"q {number}", found=[])
    assert Remediation.objects.count() == 8
