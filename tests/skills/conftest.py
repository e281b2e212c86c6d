import dataclasses
from pathlib import Path
from typing import Any, Protocol

import pytest
from django.core.management import call_command

from contextd.callers import Caller, Entry
from skills.models import Skill
from tests.conftest import Call
from tests.skills.packages import FORMS, write


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
    """Somebody who reviews what others propose."""
    return dataclasses.replace(caller, is_curator=True)


@pytest.fixture
def forms(tmp_path: Path, warm_model: None) -> Skill:
    """A skill with files in folders of folders."""
    call_command("skills", "import", write(tmp_path / "pdf-forms", FORMS), verbosity=0)
    return Skill.objects.get()
