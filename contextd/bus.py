"""Messages between the processes of one installation, over Valkey; none is stored."""

import logging
import secrets
from functools import cache
from typing import Annotated, Any, Literal

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from redis import Redis
from redis.exceptions import RedisError

from contextd import logs

EVERYBODY = "contextd:bus"
TIMEOUT_SECONDS = 2
NOT_NOTIFIED = "other processes were not notified: Redis does not answer (REDIS_URL)"

ListName = Literal["tools", "prompts", "resources"]

logger = logging.getLogger(__name__)


@cache
def this_process() -> str:
    """Return the name of this process, created on first use, since a fork would copy it."""
    return secrets.token_hex(4)


class Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    sender: str = Field(default_factory=this_process)


class Change(Message):
    """The list of that kind has changed or, with `uri`, only the resource at that address."""

    about: Literal["change"] = "change"
    kind: ListName
    uri: str | None = None


class AccessChanged(Message):
    """Someone's permissions changed: cached permissions are void."""

    about: Literal["access changed"] = "access changed"


class CallsRecorded(Message):
    """More calls have been recorded."""

    about: Literal["calls recorded"] = "calls recorded"


class SessionsEnded(Message):
    about: Literal["sessions ended"] = "sessions ended"
    sessions: list[str]


class StreamOpened(Message):
    """A process has opened the stream of that session; the others close theirs."""

    about: Literal["stream opened"] = "stream opened"
    session: str


class FromClient(Message):
    """A JSON-RPC message that arrived at a different process than the one waiting for it."""

    about: Literal["from client"] = "from client"
    session: str
    content: dict[str, Any]


class ToClient(Message):
    """A JSON-RPC message for the stream of a session, in whichever process it is open."""

    about: Literal["to client"] = "to client"
    session: str
    content: dict[str, Any]


News = Change | AccessChanged | CallsRecorded | SessionsEnded | StreamOpened | FromClient | ToClient

news: TypeAdapter[News] = TypeAdapter(Annotated[News, Field(discriminator="about")])


def channel_of(process: str) -> str:
    return f"{EVERYBODY}:{process}"


def publish(message: Message) -> None:
    """Send to every process; if Valkey does not answer, they notice the change later."""
    try:
        _valkey().publish(EVERYBODY, message.model_dump_json())
    except RedisError:
        logs.warn_seldom(logger, NOT_NOTIFIED)


@cache
def _valkey() -> "Redis":
    return Redis.from_url(
        settings.REDIS_URL, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
    )
