"""How an upstream is started, and what becomes of one that cannot be."""

import sys
from pathlib import Path
from typing import Any

import pytest

from contextd.errors import UpstreamFailed
from gateway import client
from gateway.models import State
from tests.conftest import Call
from tests.gateway.conftest import MISBEHAVING, Add, wait_for_state


def test_one_that_cannot_start_is_given_up_and_started_again_on_request(
    add: Add, call: Call
) -> None:
    upstream = add(command=["false"], expect=State.FAILED, restart_attempts=1)
    assert "given up after 2 attempts" in upstream.reason

    with pytest.raises(UpstreamFailed, match="no handshake"):
        client.control("restart", "odd")

    wait_for_state(upstream, State.FAILED)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"command": ["no-such-program"]}, "there is no program 'no-such-program' in /usr/local"),
        ({"command": ["/no/such"]}, "there is no program '/no/such' that can be run; install it"),
        ({"command": ["cat"], "working_directory": "/no/such"}, "there is no folder '/no/such'"),
        (
            {"command": ["cat"], "working_directory": "/" + "a" * 300},
            "there is no folder '/aaa",
        ),
        ({"transport": "http", "url": "https://[::::]/"}, "not appear to be an IPv4 or IPv6"),
        ({"command": [MISBEHAVING]}, "there is no program"),
    ],
)
def test_what_cannot_be_started_is_not_tried_again(
    add: Add, fields: dict[str, Any], told: str
) -> None:
    upstream = add(**fields, expect=State.FAILED)

    assert told in upstream.reason
    assert not upstream.events.filter(state=State.BACKOFF).exists()


def test_a_file_that_is_no_program_is_not_tried_again(add: Add, tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)

    upstream = add(command=[str(program)], expect=State.FAILED)

    assert "cannot be started: [Errno 2] No such file or directory" in upstream.reason
    assert not upstream.events.filter(state=State.BACKOFF).exists()


@pytest.mark.parametrize("action", ["restart", "refresh"])
def test_a_program_that_is_installed_later_starts_when_a_person_asks(
    add: Add, tmp_path: Path, action: str
) -> None:
    program = tmp_path / "server"
    upstream = add(command=[str(program)], expect=State.FAILED)
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {MISBEHAVING}\n")
    program.chmod(0o755)

    client.control(action, "odd")

    upstream.refresh_from_db()
    assert (upstream.state, upstream.reason) == (State.READY, "")


def test_the_environment_is_what_was_given_and_nothing_else(
    add: Add, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "secret")
    add(settings={"THEIRS": "value"})

    found = call("odd:environment").structured

    assert found["THEIRS"] == "value"
    assert set(found) - {"LC_CTYPE"} == {"THEIRS", "PATH", "CONTEXTD_GATEWAY", "CONTEXTD_RUN"}


def test_what_is_kept_encrypted_is_not_in_the_row(add: Add) -> None:
    (setting,) = add(settings={"TOKEN": "hush"}).settings.all()

    assert "hush" not in setting.ciphertext
    assert setting.value == "hush"


def test_commands_are_limited_outside_single_user_mode(add: Add, settings: object) -> None:
    settings.CONTEXTD_ANONYMOUS = False  # type: ignore[attr-defined]

    upstream = add(command=["cat"], expect=State.FAILED)

    assert "'cat' is not in CONTEXTD_GATEWAY_COMMANDS" in upstream.reason


def test_commands_in_containers_are_limited_too(add: Add, settings: object) -> None:
    settings.CONTEXTD_ANONYMOUS = False  # type: ignore[attr-defined]

    upstream = add(
        transport="docker",
        container="box",
        command=["cat"],
        expect=State.FAILED,
    )

    assert "'cat' is not in CONTEXTD_GATEWAY_COMMANDS" in upstream.reason


def test_a_program_is_started_relative_to_its_working_directory(add: Add, tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {MISBEHAVING}\n")
    program.chmod(0o755)

    upstream = add(command=["./server"], working_directory=str(tmp_path))

    assert upstream.reason == ""


def test_what_it_says_of_its_settings_is_not_told(add: Add) -> None:
    says = "import os, sys; sys.exit(os.environ['KEY'] + ' or ' + os.environ['KEY'].split()[1])"
    upstream = add(
        command=[sys.executable, "-c", says],
        settings={"KEY": "Bearer hush-hush"},
        expect=State.FAILED,
        restart_attempts=0,
    )

    assert "[KEY] or [KEY]" in upstream.reason
    assert not upstream.events.filter(reason__contains="hush").exists()
