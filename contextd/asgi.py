"""The web process: behind the gate, `/mcp` goes to the MCP door and everything else to Django."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from django.core.asgi import get_asgi_application
from starlette.types import ASGIApp, Receive, Scope, Send

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextd.settings")

from contextd import garbage, gate, telemetry

telemetry.set_up("web")
django = cast(ASGIApp, get_asgi_application())

from contextd import cors, pool, search, signals, web  # noqa: E402  (needs Django's apps)
from contextd.mcp.mount import Endpoint  # noqa: E402

SWITCH_SECONDS = 0.02
"""Seconds a thread may compute before another one gets its turn, four times the default: most calls
need a worker for less time, and interrupting them takes longer than waiting. With 16 concurrent
clients this gives a third more calls per second."""

pool.keep_connections()
mcp = Endpoint()
garbage.spare_imports()


async def route(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif gate.is_mcp(scope["path"]):
        await mcp(scope, receive, send)
    else:
        await django(scope, receive, send)


async def lifespan(receive: Receive, send: Send) -> None:
    """Run from the start of the process to its end."""
    await receive()
    sys.setswitchinterval(SWITCH_SECONDS)
    async with delivering_telemetry(), announcing_serving(), mcp.running():
        # Not a daemon: Python would end it in the middle of C++ code, which aborts the process.
        threading.Thread(target=warm_up, name="warm-up").start()
        web.note_start()
        web.on_shutdown(partial(asyncio.get_running_loop().call_soon_threadsafe, announce_shutdown))
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


def warm_up() -> None:
    search.warm_up()
    garbage.spare_imports()


def announce_shutdown() -> None:
    web.note_end()
    signals.serving_ends.send_robust(lifespan)


@asynccontextmanager
async def announcing_serving() -> AsyncIterator[None]:
    signals.serving_began.send_robust(lifespan)
    yield
    await asyncio.to_thread(signals.serving_ended.send_robust, lifespan)


@asynccontextmanager
async def delivering_telemetry() -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(telemetry.shut_down)


application = telemetry.http_middleware(cors.Cors(gate.Gate(route)), gate.MCP_PATH)
