"""Serve the processes that serve clients, on a socket private to our user."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from django.conf import settings

from contextd.embedded.processes import StartError
from gateway import place
from gateway.supervision import answering
from gateway.supervision.answering import Handler

Admit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

logger = logging.getLogger(__name__)


@asynccontextmanager
async def listening(handlers: Mapping[str, Handler]) -> AsyncIterator[None]:
    """Listen for connections. Raises StartError if another gateway listens already."""
    path = place.socket_path()
    await make_way(path)
    served: set[asyncio.Task[None]] = set()
    before = os.umask(0o177)
    try:
        listener = await asyncio.start_unix_server(partial(note_and_serve, served, handlers), path)
    finally:
        os.umask(before)
    listeners = [listener, *await listening_for_others(served, handlers)]
    try:
        yield
    finally:
        for listener in listeners:
            listener.close()
        await end_all(served)  # waiting clients must be notified
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


async def listening_for_others(
    served: set["asyncio.Task[None]"], handlers: Mapping[str, Handler]
) -> list[asyncio.Server]:
    address = settings.CONTEXTD_GATEWAY_LISTEN
    if not address:
        return []
    note = partial(note_and_serve, served, handlers, admit=place.admit)
    try:
        return [await asyncio.start_server(note, *place.host_and_port(address))]
    except OSError as error:
        raise StartError(f"cannot listen on {address} (CONTEXTD_GATEWAY_LISTEN): {error}") from None


async def make_way(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:  # left by a killed gateway
        path.unlink()
        return
    writer.close()
    raise StartError(f"another gateway is listening on {path}")


async def note_and_serve(
    served: set["asyncio.Task[None]"],
    handlers: Mapping[str, Handler],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    admit: Admit | None = None,
) -> None:
    task = asyncio.create_task(serve(handlers, reader, writer, admit))
    served.add(task)
    task.add_done_callback(served.discard)


async def end_all(served: set["asyncio.Task[None]"]) -> None:
    ending = set(served)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending)


async def serve(
    handlers: Mapping[str, Handler],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    admit: Admit | None,
) -> None:
    """Serve a connection until the other side ends it; then cancel what runs for it."""
    try:
        if admit:
            await admit(reader, writer)
        await answering.serve(reader, writer, handlers)
    except (place.Gone, ConnectionError):  # it only looked whether a gateway listens
        pass
    except (OSError, ValueError) as error:
        logger.warning("a connection to the gateway was refused: %s", error)
    finally:
        writer.close()
