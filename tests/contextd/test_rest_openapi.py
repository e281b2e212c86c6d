"""What the OpenAPI document of the operations promises is what is answered."""

from typing import Any

import pytest

from contextd import operations
from tests import promises

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_model")]


def test_what_is_promised_is_answered(settings: Any) -> None:
    settings.CONTEXTD_RATE_LIMITS = False
    addresses = promises.check("/api/v1/openapi.json", examples=3)

    assert addresses == [f"/api/v1/{operation.name}" for operation in operations.installed()]
