"""What a client hears that listens for the first time, or again after a restart."""

from itertools import takewhile
from pathlib import Path

import httpx2
import pytest

from tests.contextd.shared_sessions import (
    LISTS_CHANGED,
    LOGGED,
    UPDATED,
    client_of,
    listening,
    methods_of,
    one,
)
from tests.plain_http import (
    open_session,
    rpc,
)
from tests.server import environment_of_processes, free_port, web_process

__all__ = ["one"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_client_that_never_listened_before_has_missed_nothing(one: httpx2.Client) -> None:
    session = open_session(one)
    one.post(
        "/mcp", json=rpc("resources/subscribe", {"uri": "checkpoint://recent"}), headers=session
    )

    with listening(one, session) as messages:
        one.post("/mcp", json=rpc("door/log"), headers=session)
        heard = [*takewhile(lambda method: method != LOGGED, methods_of(messages))]

    assert UPDATED not in heard


def test_after_a_restart_a_client_hears_that_everything_may_have_changed(tmp_path: Path) -> None:
    port, environment = free_port(), environment_of_processes()
    with web_process(environment, tmp_path / "first", port) as server, client_of(server) as first:
        session = open_session(first)

    with (
        web_process(environment, tmp_path / "next", port) as server,
        client_of(server) as restarted,
        listening(restarted, session) as messages,
    ):
        assert {next(messages)["method"] for _ in LISTS_CHANGED} == LISTS_CHANGED
