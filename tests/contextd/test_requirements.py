"""What is installed is what was tested: the versions of all that requirements bring are kept."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).parents[2]


def written_in(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]


def brought(asked: Requirement, seen: set[str]) -> Iterator[NormalizedName]:
    """The names of what that requirement brings to this machine, itself first."""
    if f"{asked.name}{sorted(asked.extras)}" in seen:
        return
    seen.add(f"{asked.name}{sorted(asked.extras)}")
    try:
        found = distribution(asked.name)
    except PackageNotFoundError:
        return
    yield canonicalize_name(asked.name)
    for further in map(Requirement, found.requires or []):
        extras = asked.extras or {""}
        if not further.marker or any(further.marker.evaluate({"extra": one}) for one in extras):
            yield from brought(further, seen)


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_all_that_requirements_bring_is_locked_as_it_is_installed(name: str) -> None:
    locked = {
        canonicalize_name(one.name): str(one.specifier) for one in written_in("constraints.txt")
    }
    seen: set[str] = set()
    names = {found for asked in written_in(name) for found in brought(asked, seen)}
    assert len(names) > len(written_in(name))
    assert {one: locked.get(one) for one in names} == {
        one: f"=={distribution(one).version}" for one in names
    }


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "constraints.txt"])
def test_every_version_is_exact(name: str) -> None:
    assert all(str(one.specifier).startswith("==") for one in written_in(name))
