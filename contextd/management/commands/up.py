"""The one command that starts contextd: `manage.py up`."""

import contextlib
import itertools
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from contextd import database, embedded, secret_key, serving, shipped, supervisor, web
from contextd.embedded.processes import say

_TICK_SECONDS = 0.5
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Command(BaseCommand):
    help = "Start contextd and supervise it: databases, migrations, worker, web server."

    is_watching = is_stopping = False

    def handle(self, *args: Any, **options: Any) -> None:
        for number in _STOPPING:
            if signal.getsignal(number) != signal.SIG_IGN:  # ignored under nohup
                signal.signal(number, self.interrupt)
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self.run()
        except (embedded.StartError, ImproperlyConfigured, OSError) as error:
            say(f"contextd: {' '.join(str(error).split())}")
            sys.exit(1)
        say("contextd has stopped.")

    def interrupt(self, *_: object) -> None:
        self.is_stopping = True
        # Once everything runs, no step takes long, and an interrupt within a fork would lose a
        # child.
        if not self.is_watching:
            raise KeyboardInterrupt

    def run(self) -> None:
        """Start the parts and watch them. However this ends, they stop in reverse order."""
        with (
            embedded.claim(settings.DATA_DIR),
            contextlib.ExitStack() as running,
            undisturbed_stop(),
        ):
            supervisor.ensure_port_is_free()
            if not settings.ENVIRONMENT.secret_key:
                secret_key.kept_in(settings.DATA_DIR)
            postgres = supervisor.start_postgres(running)
            restarted = supervisor.start_valkey(running)
            with usable_database():
                database.ensure_suitable()
                migrate()
            server = running.enter_context(serving.process())
            server.let_go()
            parts = [*postgres, server]
            with usable_database():
                load_shipped()
            restarted.append(running.enter_context(supervisor.Restarted(supervisor.worker())))
            restarted += supervisor.start_gateway(running)
            server.wait_until(lambda: all_run(parts) and web.ask("/readyz") is not None, pause=0.1)
            with usable_database():
                self.greet()
            self.is_watching = True
            while not self.is_stopping and all_run(parts):
                for program in restarted:
                    program.tend()
                time.sleep(_TICK_SECONDS)

    def greet(self) -> None:
        password = create_first_admin()
        admin = get_user_model().objects.filter(is_superuser=True).earliest("pk").get_username()
        login = f"user {admin}" + (f", password {password}: shown only now" if password else "")
        self.stdout.write(banner(login))
        self.stdout.flush()


@contextlib.contextmanager
def usable_database() -> Iterator[None]:
    """Report a failure in one line, and keep no connection."""
    try:
        yield
    except DatabaseError as error:
        raise embedded.StartError(f"the database (DATABASE_URL) cannot be used: {error}") from None
    finally:
        connection.close()


@contextlib.contextmanager
def undisturbed_stop() -> Iterator[None]:
    """Ignore further Ctrl-C once stopping has begun."""
    try:
        yield
    finally:
        for number in _STOPPING:
            signal.signal(number, signal.SIG_IGN)


def all_run(parts: list[embedded.Process]) -> bool:
    """Return True. Raise StartError if one of them has ended."""
    for part in parts:
        if part.has_ended():
            raise embedded.StartError(
                f"{part.obituary()}, so contextd stops: start it again with `make run`"
            )
    return True


def migrate() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")  # building an index may take long
        call_command("migrate", interactive=False, verbosity=0)


def load_shipped() -> None:
    for library in shipped.libraries():
        loaded = shipped.load_changed(library)
        for complaint in loaded.complaints:
            say(f"contextd: not loaded: {complaint}")
        if keys := ", ".join(loaded.kept_out):
            say(f"contextd: {library.name} not loaded, as yours have their ids: {keys}")


def create_first_admin() -> str | None:
    """Return the password of the new superuser; None if there was a superuser already."""
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    free = (name for name in _names_of_admin() if not users.filter(username=name).exists())
    users.create_superuser(next(free), password=password)
    return password


def _names_of_admin() -> Iterator[str]:
    yield "admin"
    yield from (f"admin{number}" for number in itertools.count(2))


def banner(login: str) -> str:
    address = web.address()
    return f"""
contextd is ready.

  Dashboard    {address}/
  Admin        {address}/admin/ ({login})
  MCP          {address}/mcp
  Claude Code  claude mcp add --transport http contextd {address}/mcp --scope user
  REST         {address}/api/v1/docs
  Skills       .venv/bin/python manage.py skills import --starter
  Data         {settings.DATA_DIR} (logs of the databases in logs/)
"""
