import os
from typing import Annotated

from django.db import connection
from pydantic import Field

from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.operations import Rate, Request, Result, operation
from contextd.validation import Text


class Nothing(Request):
    """Show something of a door."""


class Echo(Request):
    """Say the text again."""

    text: Annotated[Text, Field(max_length=100, description="What to say")]
    aside: Annotated[Text | None, Field(max_length=100, description="What not to say")] = None


class Said(Result):
    text: str
    aside: str | None


@operation("door_echo", effect="read", timeout=5)
def echo(caller: Caller, request: Echo) -> Said:
    return Said(text=request.text, aside=request.aside)


class Identity(Result):
    principal: str
    connection: str
    session: str
    context: str
    client: str
    is_local: bool


@operation("door_whoami", effect="read", timeout=5)
def whoami(caller: Caller, request: Nothing) -> Identity:
    return Identity.model_validate(caller)


@operation("door_miss", effect="read", timeout=5)
def miss(caller: Caller, request: Nothing) -> Said:
    raise NotFound("there is no such thing", thing=7)


@operation("door_break", effect="read", timeout=5)
def break_down(caller: Caller, request: Nothing) -> Said:
    raise RuntimeError("the secret of the house")


@operation("door_rare", effect="read", timeout=5, rate=Rate(1, burst=2))
def rare(caller: Caller, request: Nothing) -> Said:
    return Said(text="here", aside=None)


@operation("door_babble", effect="read", timeout=5)
def babble(caller: Caller, request: Nothing) -> Said:
    print("from Python", flush=True)  # noqa: T201
    os.write(1, b"from below\n")
    os.system("echo from a child")  # noqa: S605, S607
    return Said(text="done", aside=None)


class Wait(Request):
    """Let the database sleep."""

    seconds: Annotated[float, Field(description="How long")]


@operation("door_wait", effect="read", timeout=20)
def wait(caller: Caller, request: Wait) -> Said:
    return sleep(request.seconds)


@operation("door_hurry", effect="read", timeout=1)
def hurry(caller: Caller, request: Wait) -> Said:
    return sleep(request.seconds)


def sleep(seconds: float) -> Said:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [seconds])
    return Said(text="awake", aside=None)
