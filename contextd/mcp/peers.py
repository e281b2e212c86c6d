"""Messages to and from the other processes of this installation, on the event loop."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, get_args

from django.conf import settings
from pydantic import ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contextd import bus, changes

START_SECONDS = 1
RECONNECT_SECONDS = 1
POLL_SECONDS = 5

Hear = Callable[[bus.News], None]

logger = logging.getLogger(__name__)


def ignore(message: bus.News) -> None:
    """Ignore messages about sessions, in a process that serves none."""


class Peers:
    """Receives messages during `listening()` and announces changes in this process."""

    def __init__(self) -> None:
        self._valkey = Redis.from_url(
            settings.REDIS_URL,
            decode_responses=True,
            socket_connect_timeout=bus.TIMEOUT_SECONDS,
            health_check_interval=POLL_SECONDS,
        )
        self._is_connected = asyncio.Event()
        self._missed_news = False

    @contextlib.asynccontextmanager
    async def listening(self, hear: Hear = ignore) -> AsyncIterator[None]:
        """Receive messages; start even without Valkey, and connect as soon as it answers."""
        listening = asyncio.create_task(self._listen(hear))
        try:
            await asyncio.wait_for(self._is_connected.wait(), START_SECONDS)
        except TimeoutError:
            self._missed_news = True
        try:
            yield
        finally:
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await listening
            await self._valkey.aclose()

    async def publish(self, message: bus.Message) -> bool:
        """Send to every process; return whether any received it, including this one."""
        return await self._send_on(bus.EVERYBODY, message)

    async def send(self, process: str, message: bus.Message) -> bool:
        """Send to one process; return False if it has ended."""
        return await self._send_on(bus.channel_of(process), message)

    async def _send_on(self, channel: str, message: bus.Message) -> bool:
        try:
            async with asyncio.timeout(bus.TIMEOUT_SECONDS):
                return bool(await self._valkey.publish(channel, message.model_dump_json()))
        except (RedisError, OSError):
            logger.warning(bus.NOT_NOTIFIED)
            return False

    async def _listen(self, hear: Hear) -> None:
        while True:
            try:
                await self._hear_until_broken(hear)
            except (RedisError, OSError):
                self._note_break()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _hear_until_broken(self, hear: Hear) -> None:
        ours = bus.channel_of(bus.this_process())
        async with self._valkey.pubsub() as pubsub:
            await pubsub.subscribe(bus.EVERYBODY, ours)
            while True:
                heard = await pubsub.get_message(timeout=POLL_SECONDS)
                if heard is None:
                    continue
                if heard["type"] == "message":
                    take(heard["data"], hear)
                elif heard["type"] == "subscribe" and heard["channel"] == ours:
                    self._note_connection()

    def _note_break(self) -> None:
        if self._is_connected.is_set():
            logger.warning(
                "messages of other processes are lost: Redis does not answer (REDIS_URL)"
            )
            self._is_connected.clear()

    def _note_connection(self) -> None:
        """Announce that everything may have changed, since messages have been lost."""
        self._is_connected.set()
        if self._missed_news:
            changes.hear(bus.AccessChanged())
            for kind in get_args(bus.ListName):
                changes.hear(bus.Change(kind=kind))
        self._missed_news = True


def take(content: Any, hear: Hear) -> None:
    try:
        message = bus.news.validate_json(content)
    except ValidationError:
        logger.warning("a process of another version sent a message that this one cannot read")
        return
    if not isinstance(message, changes.Announcement):
        hear(message)
    elif message.sender != bus.this_process():
        changes.hear(message)
