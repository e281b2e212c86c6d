from collections.abc import Iterator

import pytest
from django.db import connection

from contextd import status
from tests.conftest import Call


@pytest.fixture
def no_table(transactional_db: None) -> Iterator[None]:
    def rename(old: str, new: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")

    rename("remediations_remediation", "elsewhere")
    yield
    rename("elsewhere", "remediations_remediation")


def test_remediations_have_a_check_of_their_own(call: Call) -> None:
    assert call("status").services["remediation"].status == "healthy"


def test_when_they_cannot_be_read_the_status_says_what_to_do(no_table: None) -> None:
    service = status.probe_all()["remediation"]

    assert service.status == "unhealthy"
    assert service.error == "remediations cannot be read; run manage.py migrate"
