"""What the dashboard's OpenAPI document promises is what is answered, whatever is asked."""

from typing import Any

import pytest

from tests import promises

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_model")]


def test_what_is_promised_is_answered(settings: Any) -> None:
    settings.CONTEXTD_RATE_LIMITS = False

    assert len(promises.check("/api/dashboard/openapi.json", examples=5)) > 5
