"""Live calls of all processes."""

import asyncio
import signal
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import psutil
import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.test import Client
from starlette.types import ASGIApp, Message

from contextd import changes
from contextd.concurrency import PlaceLimit
from contextd.errors import NotFound
from contextd.models import Project
from contexts.models import Context
from pages import streaming
from tests.analytics.conftest import Happened
from tests.conftest import Call
from tests.contextd import asgi_client, holding
from tests.contextd.holding import Held
from tests.server import Server, web_process

STREAM = "/dashboard/live/stream/"
MAX_WAIT_SECONDS = 20
"""Less than between two beats, so that anything received in time was pushed."""
EXIT_SECONDS = 10
MAX_QUERIES = 5
STREAMS = 5
MANY = 130
"""More than are looked up at once."""


class Listening:
    """A browser's connection to the stream, which has found out that there is nothing yet."""

    def __init__(self, server: Server, query: str = "", **headers: str) -> None:
        self._connection = HTTPConnection(urlsplit(server.url).netloc, timeout=MAX_WAIT_SECONDS)
        self._connection.request("GET", f"{STREAM}?{query}", headers=headers)
        self.response = self._connection.getresponse()
        while self.response.status == 200 and self.response.readline() != b": nothing new\n":
            pass

    def rows(self) -> str:
        """What the next event adds to the table; raises EOFError where the stream has ended."""
        lines: list[str] = []
        while not lines or lines[-1].strip():
            line = self.response.readline().decode()
            if not line:
                raise EOFError
            if lines or line.startswith("data:"):
                lines.append(line)
        return "".join(lines)

    def close(self) -> None:
        self._connection.close()


def test_a_call_of_any_process_appears(server: Server, counted: Call) -> None:
    with closing(Listening(server)) as listening:
        counted("checkpoint_save", summary="Began", project_path="/w/shop")

        rows = listening.rows()

    assert '<th scope="row">checkpoint_save</th><td>ok</td>' in rows
    assert "<td>shop</td><td>default</td>" in rows
    assert listening.response.headers["Content-Type"] == "text/event-stream"


def test_only_calls_that_are_wanted_appear(server: Server, counted: Call) -> None:
    wanted = "operation=checkpoint_get&outcome=not_found&context=default"
    with closing(Listening(server, wanted)) as listening:
        counted("checkpoint_save", summary="Began", project_path="/w/shop")
        counted("status")
        with pytest.raises(NotFound):
            counted("checkpoint_get", id="999")

        rows = listening.rows()

    assert rows.count("<tr") == 1
    assert "checkpoint_get" in rows


def test_only_what_one_may_see_appears_and_only_as_long_as_one_may(
    server: Server, client: Client, happened: Happened
) -> None:
    seen, hidden = (Project.objects.create(name=name) for name in ("seen", "hidden"))
    context = Context.objects.get(name="default")
    context.projects.set([seen])
    context.all_projects = False
    context.save()
    ann = User.objects.create_user("ann")
    client.force_login(ann)
    own = f"user:{ann.pk}"
    with closing(Listening(server, Cookie=client.cookies.output(header=""))) as listening:
        happened("checkpoint_get", project=hidden, principal=own)
        happened("checkpoint_update", project=seen, principal="user:999")
        happened("checkpoint_list", project=seen, principal=own)
        changes.announce_calls()
        rows = listening.rows()
        context.is_open = False
        context.save()

        with pytest.raises(EOFError):
            listening.rows()

    assert "checkpoint_list" in rows
    assert "checkpoint_get" not in rows
    assert "checkpoint_update" not in rows


def test_who_comes_back_misses_nothing(server: Server, happened: Happened) -> None:
    first, _ = happened("status"), happened("checkpoint_list")
    with closing(
        HTTPConnection(urlsplit(server.url).netloc, timeout=MAX_WAIT_SECONDS)
    ) as connection:
        connection.request("GET", STREAM, headers={"Last-Event-ID": str(first.pk)})
        response = connection.getresponse()
        lines = [response.readline().decode() for _ in range(5)]

    assert lines[2:4] == ["event: calls\n", f"id: {first.pk + 1}\n"]
    assert "checkpoint_list" in lines[4]


def test_many_calls_at_once_are_all_streamed(server: Server, happened: Happened) -> None:
    first, *others = (happened(f"operation_{number}") for number in range(1 + MANY))
    with closing(
        HTTPConnection(urlsplit(server.url).netloc, timeout=MAX_WAIT_SECONDS)
    ) as connection:
        connection.request("GET", f"{STREAM}?after={first.pk}")
        response = connection.getresponse()
        lines: list[str] = []
        while sum("<tr" in line for line in lines) < MANY:
            lines.append(response.readline().decode())

    assert all(any(f">{event.operation}<" in line for line in lines) for event in others)


@pytest.mark.django_db
def test_a_key_that_was_made_up_is_no_mistake_of_ours(here: Client) -> None:
    assert here.get(STREAM, {"after": "9" * 5000}).status_code == 200


def test_people_elsewhere_are_sent_to_log_in(server: Server) -> None:
    with closing(Listening(server, **{"X-Forwarded-For": "192.0.2.7"})) as listening:
        assert listening.response.status == 302


def test_a_stream_that_waits_holds_neither_thread_nor_connection(transactional_db: None) -> None:
    async def listen() -> tuple[Held, Held]:
        waiting = asyncio.Semaphore(0)

        async def note(message: Message) -> None:
            if message.get("body") == streaming.BEAT:
                waiting.release()

        before = await holding.now()
        application = cast(ASGIApp, get_asgi_application())
        listening = [
            asyncio.create_task(asgi_client.get(application, STREAM, note)) for _ in range(STREAMS)
        ]
        for _ in listening:
            await waiting.acquire()
        during = await holding.at_last(before.threads + streaming.THREADS)
        for task in listening:
            task.cancel()
        return before, during

    before, during = asyncio.run(listen())

    assert during.threads <= before.threads + streaming.THREADS
    assert during.connections <= before.connections


def test_too_many_streams_of_one_user_are_sent_away(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "places", PlaceLimit(3, 2))

    async def listen() -> list[bytes]:
        waiting, last = asyncio.Semaphore(0), list[bytes]()

        async def note(message: Message) -> None:
            if message.get("body") == streaming.BEAT:
                waiting.release()

        async def keep(message: Message) -> None:
            last.append(message.get("body", b""))

        application = cast(ASGIApp, get_asgi_application())
        open_ones = [
            asyncio.create_task(asgi_client.get(application, STREAM, note)) for _ in range(2)
        ]
        for _ in open_ones:
            await waiting.acquire()
        await asgi_client.get(application, STREAM, keep)
        for one in open_ones:
            one.cancel()
        return last

    assert b"".join(asyncio.run(asyncio.wait_for(listen(), MAX_WAIT_SECONDS))) == streaming.LATER


def test_a_server_that_ends_ends_its_streams(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with web_process(environment, log) as server, closing(Listening(server)) as listening:
        process = psutil.Process(server.pid)
        process.send_signal(signal.SIGTERM)

        with pytest.raises(EOFError):
            listening.rows()
        process.wait(EXIT_SECONDS)

    assert "exceeded" not in log.read_text()
    assert "Traceback" not in log.read_text()


@pytest.mark.django_db
def test_the_page_has_the_newest_without_the_stream(here: Client, happened: Happened) -> None:
    shop = Project.objects.create(name="shop")
    for name in ("status", "checkpoint_list"):
        happened(name, project=shop, query="<i>parser</i>")
    happened("skill_list", outcome="timeout")

    page = here.get("/dashboard/live/", {"project": str(shop.pk), "outcome": "ok"})

    names = [call.operation for call in page.context["calls"]]
    assert names == ["checkpoint_list", "status"]
    text = page.content.decode()
    assert "&lt;i&gt;parser&lt;/i&gt;" in text
    assert f'data-stream="/dashboard/live/stream/?project={shop.pk}&amp;outcome=ok"' in text


@pytest.mark.django_db
def test_an_invalid_choice_is_reported(here: Client, happened: Happened) -> None:
    page = here.get("/dashboard/live/", {"outcome": "splendid"})

    assert "Select a valid choice" in page.content.decode()


@pytest.mark.django_db
def test_more_calls_ask_no_more_queries(
    here: Client, happened: Happened, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        happened("status", project=Project.objects.create(name=f"p{number}"))

    with django_assert_max_num_queries(MAX_QUERIES):
        here.get("/dashboard/live/")
