"""A gateway on another host, reached by an address and a token."""

import asyncio
import socket
import socketserver
import threading
from collections.abc import Iterator

import pytest
from django.conf import settings

from contextd.errors import UpstreamFailed
from gateway import place, services
from gateway.models import State, Upstream
from tests.conftest import Call
from tests.gateway.conftest import Add
from tests.server import free_port
from tests.waiting import wait_for

TOKEN = "t" * 32


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """The socket is not used; the gateway that starts after this listens at an address."""
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setattr(settings, "CONTEXTD_GATEWAY_LISTEN", address)
    monkeypatch.setattr(settings, "CONTEXTD_GATEWAY_ADDRESS", address)
    monkeypatch.setattr(settings, "CONTEXTD_GATEWAY_TOKEN", TOKEN)
    return place.host_and_port(address)


def test_it_is_called_there(elsewhere: tuple[str, int], add: Add, call: Call) -> None:
    add()

    assert call("odd:add", a=1, b=2).structured == {"sum": 3}


def test_status_does_not_fill_the_log_of_the_gateway(
    elsewhere: tuple[str, int], add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    add()

    assert call("status").services["gateway"].status == "healthy"
    socket.create_connection(elsewhere, timeout=10).close()
    assert call("odd:add", a=1, b=2).structured == {"sum": 3}

    assert "was refused" not in caplog.text


def test_status_names_a_different_token(
    impostor: list[bytes], upstream: Upstream, call: Call
) -> None:
    services.save_state(upstream.pk, State.READY)

    told = call("status").services["gateway"]

    assert told.status == "unhealthy"
    assert told.error == "the gateway has a different token (CONTEXTD_GATEWAY_TOKEN)"


def test_who_does_not_know_the_token_gets_no_answer(
    elsewhere: tuple[str, int], gateway: None
) -> None:
    with socket.create_connection(elsewhere, timeout=10) as stranger:
        challenge = stranger.recv(1000)
        stranger.sendall(b"f" * 64 + b"\nword\n")
        answer = stranger.recv(1000)

    assert len(challenge) == 65
    assert answer == b""


def test_a_word_that_is_no_word_is_refused_too(
    elsewhere: tuple[str, int], gateway: None, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(elsewhere, timeout=10) as stranger:
        stranger.recv(1000)
        stranger.sendall(b"\xff" * 64 + b"\nword\n")
        answer = stranger.recv(1000)

    assert answer == b""
    wait_for(lambda: "a connection to the gateway was refused" in caplog.text)


def test_a_connection_that_is_not_greeted_in_time_is_closed(elsewhere: tuple[str, int]) -> None:
    async def heard_after_time_limit(silent: socket.socket) -> bytes:
        with pytest.raises(TimeoutError) as late:
            async with asyncio.timeout(0.1):
                await place.reach()
        with silent.accept()[0] as connection:
            connection.settimeout(10)
            heard = await asyncio.to_thread(connection.recv, 1000)
        del late  # its traceback kept the connection from being closed as garbage
        return heard

    with socket.create_server(elsewhere) as silent:
        assert asyncio.run(heard_after_time_limit(silent)) == b""


def test_a_gateway_that_does_not_know_it_is_told_nothing(
    elsewhere: tuple[str, int], impostor: list[bytes], upstream: Upstream, call: Call
) -> None:
    with pytest.raises(UpstreamFailed, match=r"different token .CONTEXTD_GATEWAY_TOKEN"):
        call("odd:echo", note="for the real one")

    assert len(impostor) == 2
    assert TOKEN.encode() not in b"".join(impostor)


@pytest.fixture
def impostor(elsewhere: tuple[str, int]) -> Iterator[list[bytes]]:
    """What a server at the address is told that only pretends to be the gateway."""
    heard: list[bytes] = []

    class Pretending(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"c" * 64 + b"\n")
            heard.extend([self.rfile.readline(), self.rfile.readline()])
            self.wfile.write(b"f" * 64 + b"\n")
            heard.extend(self.rfile.readlines())

    with socketserver.TCPServer(elsewhere, Pretending) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield heard
        server.shutdown()
        thread.join()


def test_one_that_does_not_answer_is_named(
    elsewhere: tuple[str, int], upstream: Upstream, call: Call
) -> None:
    with pytest.raises(UpstreamFailed, match="does not answer at CONTEXTD_GATEWAY_ADDRESS"):
        call("odd:echo")
