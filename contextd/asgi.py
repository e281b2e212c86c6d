"""The web process: `/mcp` is the MCP door's, all else is Django's, and the gate is before both."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.core.asgi import get_asgi_application
from starlette.types import Receive, Scope, Send

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextd.settings")

from contextd import gate, telemetry

telemetry.set_up("web")
django = gate.Gate(get_asgi_application())

from contextd import search  # noqa: E402  (they need Django's apps)
from contextd.mcp.mount import Endpoint  # noqa: E402

endpoint = Endpoint()
mcp = telemetry.http_middleware(gate.Gate(endpoint), gate.MCP_PATH)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await live(receive, send)
    elif scope["type"] == "http" and gate.is_mcp(scope["path"]):
        await mcp(scope, receive, send)
    else:
        await django(scope, receive, send)


async def live(receive: Receive, send: Send) -> None:
    await receive()
    async with delivering_telemetry(), endpoint.running():
        # In a thread of its own: a request that comes before it ends loads the model itself.
        threading.Thread(target=search.warm_up, name="warm-up", daemon=True).start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def delivering_telemetry() -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(telemetry.shut_down)
