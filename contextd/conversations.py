"""What an operation may do while it waits: ask the person, report progress, finish later.

Such a handler is a coroutine and may be run again from its start, with the replies received so far:
it must ask before it acts.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from django.db import close_old_connections
from pydantic import BaseModel, ConfigDict

from contextd.errors import Unsupported

FIELD_TYPES = {"string", "number", "integer", "boolean"}

Outcome = TypeVar("Outcome")
Ability = Literal["questions", "model", "later results"]


class Form(BaseModel):
    """A form for a person to fill in: fields for text, numbers, yes or no, or a choice."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        for name, field in cls.model_json_schema()["properties"].items():
            if field.get("type") not in FIELD_TYPES:
                raise TypeError(f"clients have no input for the field {name!r} of {cls.__name__}")


F = TypeVar("F", bound=Form)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    form: type[Form]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A question of another MCP server in MCP's own format, for the person or the model."""

    method: str
    params: Mapping[str, Any]


class Interim(Exception):
    """Raised when the operation has not ended: it is run again from its start."""


class Unanswered(Interim):
    """The person is asked elsewhere; the operation is run again with the replies."""

    def __init__(self, questions: Mapping[str, Question | Foreign]) -> None:
        super().__init__(", ".join(questions))
        self.questions = questions


class Detached(Interim):
    """The operation continues without a waiting client, with the arguments as redacted."""

    arguments: Mapping[str, Any] = {}
    redacted = 0
    """Number of credentials that were removed from the arguments."""


class Conversation(Protocol):
    """Connects a running operation with its caller; each door has its own."""

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress."""

    async def ask(self, key: str, text: str, form: type[F]) -> F:
        """Ask the person; `key` distinguishes the question from the operation's other ones.

        Raise Declined, or Unsupported if nobody can be asked.
        """

    async def ask_all(self, questions: Mapping[str, Question]) -> Mapping[str, Form]:
        """Ask several questions at once."""

    @property
    def replied(self) -> Collection[str]:
        """The keys of the questions that were answered before this run."""

    async def pass_on(self, questions: Mapping[str, Foreign]) -> Mapping[str, Any]:
        """Relay another server's questions to the caller's client; return its replies unchanged.

        Raise Unsupported if it cannot answer such questions, Declined if it refuses.
        """

    def header(self, name: str) -> str | None:
        """Return that header of the caller's request; None for doors without headers."""

    async def take_time(self) -> bool:
        """Announce that the operation takes long, so that the caller can fetch the result later.

        Return whether the caller will do so; otherwise it keeps waiting.
        """

    def allowance(self, seconds: float) -> float:
        """Return how long an operation with that time limit may take in this conversation."""

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        """Run short synchronous work, such as a service that queries the database."""


def do_and_let_go(work: Callable[[], Outcome]) -> Outcome:
    """Run the work in a pool thread, and return its connection to the database afterwards."""
    try:
        return work()
    finally:
        close_old_connections()


class Alone:
    """The conversation of a door where nobody can be asked: a script, a command."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._headers = headers or {}

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        return None

    async def ask(self, key: str, text: str, form: type[F]) -> F:
        raise Unsupported(f"a person has to be asked: {text}", ability="questions")

    async def ask_all(self, questions: Mapping[str, Question]) -> Mapping[str, Form]:
        texts = " ".join(question.text for question in questions.values())
        raise Unsupported(f"a person has to be asked: {texts}", ability="questions")

    @property
    def replied(self) -> Collection[str]:
        return ()

    async def pass_on(self, questions: Mapping[str, Foreign]) -> Mapping[str, Any]:
        methods = ", ".join(one.method for one in questions.values())
        raise Unsupported(f"{methods} cannot be answered here", ability="questions")

    def header(self, name: str) -> str | None:
        return self._headers.get(name)

    async def take_time(self) -> bool:
        return False

    def allowance(self, seconds: float) -> float:
        return seconds

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        return await asyncio.to_thread(do_and_let_go, work)
