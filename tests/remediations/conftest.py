from typing import Any, Protocol

import pytest

from tests.conftest import Call


class Save(Protocol):
    def __call__(self, error_message: str, **fields: Any) -> str: ...


@pytest.fixture
def save(call: Call, settings: Any) -> Save:
    """Save a remediation, as many as wanted; returns its id."""
    settings.CONTEXTD_RATE_LIMITS = False

    def save(error_message: str, **fields: Any) -> str:
        given = {"error_type": "Error", "solution": f"Fixed: {error_message}", **fields}
        return str(call("remediation_save", error_message=error_message, **given).id)

    return save
