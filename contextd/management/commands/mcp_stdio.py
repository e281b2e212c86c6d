"""`manage.py mcp_stdio`: the MCP door for clients that start their servers themselves."""

import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from contextd import auth, pool, search, telemetry
from contextd.errors import ContextdError


class Command(BaseCommand):
    help = "Serve MCP on standard input and output; everything else goes to standard error."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--context",
            default=settings.ENVIRONMENT.context,
            help="the context to work in; default: CONTEXTD_CONTEXT, then 'default'",
        )

    def handle(self, *args: Any, context: str | None, **options: Any) -> None:
        from contextd.mcp import stdio  # the SDK takes seconds to import; only this door needs it

        wire = stdio.take_stdout()
        connection.ensure_connection()  # if that fails, `manage.py` explains how to start one
        require_context(context)
        connection.close()
        pool.keep_connections()
        telemetry.set_up("stdio")
        signal.signal(signal.SIGINT, end_at_once)
        signal.signal(signal.SIGTERM, end_at_once)
        threading.Thread(target=search.warm_up, name="warm-up", daemon=True).start()
        try:
            stdio.serve(wire, context)
        finally:
            telemetry.shut_down()
        os._exit(0)  # Python would abort if a model is still loading


def end_at_once(number: int, frame: object) -> NoReturn:
    """Exit without cleanup: Python would wait for the thread that reads standard input."""
    telemetry.shut_down()
    os._exit(128 + number)


def require_context(name: str | None) -> None:
    try:
        auth.enter(auth.process_owner(), name, door="mcp")
    except ContextdError as error:
        raise CommandError(error.message) from None
