"""Connections that send no request are closed."""

import resource
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from contextd import connections
from contextd.connections import Connection
from tests.server import free_port
from tests.waiting import wait_for

SECONDS = 20
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def application(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port() -> Iterator[int]:
    port = free_port()
    config = uvicorn.Config(
        application, port=port, http=Connection, lifespan="off", log_level="critical"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    yield port
    server.should_exit = True
    thread.join()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=SECONDS)


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server closes the connection in time, without an answer."""
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo", b"\r\n"])
def test_without_complete_headers_it_is_closed(port: int, sent: bytes) -> None:
    with connect(port) as client:
        client.sendall(sent)

        assert is_closed(client)


@pytest.mark.usefixtures("short")
def test_after_an_answer_the_next_headers_must_be_complete_in_time(port: int) -> None:
    with connect(port) as client:
        client.sendall(REQUEST)
        assert client.recv(1000).endswith(b"ok")
        client.sendall(b"GET / HTTP/1.1\r\nHo")

        assert is_closed(client)


@pytest.mark.usefixtures("short")
def test_a_body_may_take_longer(port: int) -> None:
    with connect(port) as idle, connect(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\na")
        assert is_closed(idle)
        client.sendall(b"b")

        assert client.recv(1000).endswith(b"ok")


def test_too_many_that_send_nothing_keep_nobody_out(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "most", 2)
    with connect(port) as oldest, connect(port) as newer, connect(port) as newest:
        assert is_closed(oldest)
        for client in (newer, newest):
            client.sendall(REQUEST)
            assert client.recv(1000).endswith(b"ok")


def test_some_descriptors_stay_free(monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited = resource.RLIM_INFINITY
    for soft, most in ((1024, 768), (256, 64), (unlimited, 65_536)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))

        assert connections.most_connections() == most
