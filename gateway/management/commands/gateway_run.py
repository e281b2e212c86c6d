"""`manage.py gateway_run`: the process that runs upstreams; `manage.py up` starts it."""

import asyncio
import contextlib
import signal
import sys
from typing import Any

from django.core.management.base import BaseCommand

from contextd import pool, telemetry
from contextd.embedded.processes import StartError, say


class Command(BaseCommand):
    help = "Run the upstreams: other MCP servers whose tools clients see."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        pool.keep_connections()
        telemetry.set_up("gateway")
        try:
            asyncio.run(run())
        except StartError as error:
            say(f"contextd: {error}")
            sys.exit(1)
        finally:
            telemetry.shut_down()


async def run() -> None:
    """Run until a signal; then stop everything it started."""
    from contextd.mcp.peers import Peers
    from contextd.workers import Workers
    from gateway.supervision import methods, processes, serving
    from gateway.supervision.supervisor import Supervisor

    end_requested = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end_requested.set)
    workers = Workers(threads=2)
    supervisor = Supervisor(workers)
    try:
        async with Peers().listening(), serving.listening(methods.build(supervisor)):
            processes.end_leftovers()
            supervising = asyncio.create_task(supervisor.run())
            ending = asyncio.create_task(end_requested.wait())
            await asyncio.wait([supervising, ending], return_when=asyncio.FIRST_COMPLETED)
            supervising.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervising
    finally:
        processes.end_leftovers()
        workers.shut_down()
