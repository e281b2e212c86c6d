import asyncio
import os
from functools import partial
from typing import Annotated, Literal

from django.db import connection
from pydantic import Field

from contextd.callers import Caller
from contextd.conversations import Conversation, Form
from contextd.errors import NotFound
from contextd.operations import Rate, Request, Result, Written, operation
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
    context: str
    client: str
    is_local: bool
    is_from_this_machine: bool


@operation("door_whoami", effect="read", timeout=5)
def whoami(caller: Caller, request: Nothing) -> Identity:
    return Identity.model_validate(caller)


@operation("door_miss", effect="read", timeout=5)
def miss(caller: Caller, request: Nothing) -> Said:
    raise NotFound("there is no such thing", thing=7)


@operation("door_break", effect="read", timeout=5)
def break_down(caller: Caller, request: Nothing) -> Said:
    raise RuntimeError("the secret of the house")


@operation("door_rare", effect="read", timeout=5, rate=Rate(0.05, burst=2))
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


class Agreement(Form):
    sure: bool
    name: str


class Colour(Form):
    colour: Literal["red", "blue"]


class Pause(Request):
    """Wait without a thread."""

    seconds: Annotated[float, Field(description="How long")] = 0


@operation("door_ask", effect="read", timeout=20)
async def ask(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    agreement = await talk.ask("agreement", "Are you sure?", Agreement)
    colour = await talk.ask("colour", f"Which colour, {agreement.name}?", Colour)
    return Said(text=f"{agreement.name} likes {colour.colour}", aside=None)


@operation("door_pause", effect="read", timeout=30, rate=Rate(100, burst=100))
async def pause(caller: Caller, request: Pause, talk: Conversation) -> Said:
    await talk.report(1, 2, "half of it")
    await asyncio.sleep(request.seconds)
    return await talk.do(partial(sleep, 0))


@operation("door_doze", effect="read", timeout=0.2)
async def doze(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    await asyncio.sleep(20)
    return Said(text="late", aside=None)


@operation("door_stumble", effect="read", timeout=5)
async def stumble(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    raise RuntimeError("the secret of the house")


class Errand(Written):
    text: str
    aside: str


@operation("door_errand", effect="write", timeout=30)
async def run_errand(caller: Caller, request: Echo, talk: Conversation) -> Errand:
    is_alone = await talk.take_time()
    if request.aside == "ask":
        await talk.ask("agreement", "Are you sure?", Agreement)
    elif request.aside == "linger":
        await asyncio.sleep(20)
    return Errand(text=request.text, aside="alone" if is_alone else "waited for")


@operation("door_once", effect="read", timeout=5, rate=Rate(0.05, burst=1))
async def once(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    await talk.take_time()
    return Said(text="done", aside=None)


@operation("door_linger", effect="read", timeout=30)
async def linger(caller: Caller, request: Nothing, talk: Conversation) -> Said:
    await asyncio.sleep(20)
    return Said(text="late", aside=None)
