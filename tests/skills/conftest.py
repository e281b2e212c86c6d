import dataclasses
from typing import Any, Protocol

import pytest

from contextd.callers import Caller, Entry
from tests.conftest import Call


class Create(Protocol):
    def __call__(self, name: str, /, **fields: Any) -> str: ...


def skill_fields(name: str, /, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"How to {name}",
        "content": f"# {name}\n\n1. Begin\n2. End\n",
        "version": "1.0.0",
        "author": "Ann",
        "category": "testing",
        **fields,
    }


@pytest.fixture
def create(call: Call, settings: Any) -> Create:
    """Create a skill, as many as wanted; returns its id."""
    settings.CONTEXTD_RATE_LIMITS = False

    def create(name: str, /, **fields: Any) -> str:
        return str(call("skill_create", **skill_fields(name, **fields)).id)

    return create


@pytest.fixture
def reviewed(caller: Caller) -> Caller:
    """A caller whose context requires review."""
    return dataclasses.replace(caller, entry=Entry(needs_review=True))


@pytest.fixture
def curator(caller: Caller) -> Caller:
    """Somebody at work in the admin."""
    return dataclasses.replace(caller, door="admin")
