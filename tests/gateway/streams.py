"""The streams of a session of the SDK on a connection whose lines are messages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import jsonrpc_message_adapter


@asynccontextmanager
async def connected(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[tuple[Any, Any]]:
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive() -> None:
        async with to_session:
            async for line in reader:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await to_session.send(SessionMessage(message))

    async def transmit() -> None:
        async with from_session:
            async for sent in from_session:
                line = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(line.encode() + b"\n")

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            tasks.start_soon(transmit)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()
    finally:
        writer.close()
