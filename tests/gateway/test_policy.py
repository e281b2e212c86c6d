"""Which programs upstreams may start, and where these are found."""

from pathlib import Path
from typing import Any

import pytest

from gateway import policy, services
from gateway.models import Upstream

pytestmark = pytest.mark.django_db


@pytest.fixture
def commands(settings: Any) -> list[str]:
    """The only commands that upstreams may run."""
    settings.CONTEXTD_ANONYMOUS = False
    settings.CONTEXTD_GATEWAY_COMMANDS = ["cat"]
    allowed: list[str] = settings.CONTEXTD_GATEWAY_COMMANDS
    return allowed


def problem_of(command: str, variables: dict[str, str] | None = None, **fields: str) -> str:
    upstream = Upstream(namespace="odd", command=[command], **{"transport": "stdio", **fields})
    services.add(upstream, variables or {})
    return policy.problem_of(upstream)


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS"])
@pytest.mark.parametrize(
    "fields", [{"transport": "stdio"}, {"transport": "docker", "container": "box"}]
)
def test_an_allowed_command_cannot_be_made_to_run_another_program(
    commands: list[str], name: str, fields: dict[str, str]
) -> None:
    assert f"{name} cannot be set" in problem_of("cat", {name: "/home/me"}, **fields)


def test_other_variables_of_an_allowed_command_are_free(commands: list[str]) -> None:
    assert problem_of("cat", {"TOKEN": "hush", "MY_PATH": "/home/me"}) == ""


def test_the_path_is_free_where_commands_are_not_limited(tmp_path: Path) -> None:
    make_program(tmp_path / "server")

    assert problem_of("server", {"PATH": str(tmp_path)}) == ""


def test_a_relative_program_is_found_in_the_working_directory(tmp_path: Path) -> None:
    make_program(tmp_path / "server")

    assert problem_of("./server", working_directory=str(tmp_path)) == ""


def test_an_allowed_relative_path_is_not_allowed_in_every_directory(
    commands: list[str], tmp_path: Path
) -> None:
    commands.append("./server")
    make_program(tmp_path / "server")

    assert "is not in CONTEXTD_GATEWAY_COMMANDS" in problem_of(
        "./server", working_directory=str(tmp_path)
    )


def make_program(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
