"""Serve the processes that serve clients, on a socket private to our user."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from pydantic import BaseModel

from contextd.embedded.processes import StartError
from gateway import hop, place
from gateway.hop import Handler, Params, Report
from gateway.supervision.exchange import Asked
from gateway.supervision.supervisor import Supervisor

Admit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

logger = logging.getLogger(__name__)


class OfUpstream(BaseModel):
    namespace: str


class OfExchange(OfUpstream):
    """A request for an upstream; `replied` holds the keys of the answered questions."""

    method: str
    name: str
    params: dict[str, Any]
    principal: str
    headers: dict[str, str] = {}
    replied: list[str] = []


class OfAnswer(BaseModel):
    held: str
    principal: str
    replies: dict[str, Any] = {}
    refusal: str = ""


def asked_by(params: OfExchange) -> Asked:
    return Asked(
        method=params.method,
        name=params.name,
        params=params.params,
        principal=params.principal,
        headers=params.headers,
    )


def build(supervisor: Supervisor) -> Mapping[str, Handler]:
    """Return what answers each method."""
    exchanges = supervisor.exchanges

    async def ask(params: Params, report: Report) -> dict[str, Any]:
        request = OfExchange.model_validate(params)
        asked = asked_by(request)
        exchange = exchanges.replied_to(request.replied, asked.principal, asked.name)
        work = partial(supervisor.perform, request.namespace)
        return await exchanges.follow(exchange or exchanges.begin(asked, work), report)

    async def answer(params: Params, report: Report) -> dict[str, Any]:
        given = OfAnswer.model_validate(params)
        exchange = exchanges.held(given.held, given.principal)
        exchange.answer(given.replies, given.refusal)
        return await exchanges.follow(exchange, report)

    async def drop(params: Params, report: Report) -> dict[str, Any]:
        given = OfAnswer.model_validate(params)
        await exchanges.held(given.held, given.principal).drop()
        return {}

    async def restart(params: Params, report: Report) -> dict[str, Any]:
        return await supervisor.restart(OfUpstream.model_validate(params).namespace)

    async def refresh(params: Params, report: Report) -> dict[str, Any]:
        return await supervisor.refresh(OfUpstream.model_validate(params).namespace)

    return {one.__name__: one for one in (ask, answer, drop, restart, refresh)}


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
        await hop.serve(reader, writer, handlers)
    except (place.Gone, ConnectionError):  # it only looked whether a gateway listens
        pass
    except (OSError, ValueError) as error:
        logger.warning("a connection to the gateway was refused: %s", error)
    finally:
        writer.close()
