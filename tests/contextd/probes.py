"""Operations that exist only in tests, to look at the pipeline itself."""

from typing import Annotated

from django.db import connection
from pydantic import Field

from contextd import limits
from contextd.callers import Caller
from contextd.operations import Rate, Request, Result, Written, operation
from contextd.validation import Text


class Doze(Request):
    """Sleep in the database."""

    seconds: Annotated[float, Field(description="How long")]


class Dozed(Result):
    seconds: float


class Note(Request):
    """Give back what was said."""

    text: Annotated[Text, Field(max_length=1000, description="What to say")]


class Noted(Written):
    text: str


def doze_in_database(seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [seconds])


def doze(caller: Caller, request: Doze) -> Dozed:
    doze_in_database(request.seconds)
    return Dozed(seconds=request.seconds)


def doze_after_waiting(caller: Caller, request: Doze) -> Dozed:
    with limits.transaction():
        doze_in_database(request.seconds)
    return Dozed(seconds=request.seconds)


def bug(caller: Caller, request: Doze) -> Dozed:
    raise ValueError("password=hunter2")


def note(caller: Caller, request: Note) -> Noted:
    return Noted(text=request.text)


def declare() -> None:
    """Register them; the `declared` fixture takes them away again."""
    operation("probe_doze", effect="read", timeout=0.3)(doze)
    operation("probe_doze_later", effect="read", timeout=0.3, atomic=False)(doze_after_waiting)
    operation("probe_bug", effect="read", timeout=1)(bug)
    operation("probe_note", effect="write", timeout=1)(note)
    operation("probe_scarce", effect="write", timeout=1, rate=Rate(1, burst=2))(note)
