"""What an operation may do while it waits: ask the person, say how far it is, take its time.

Such a handler is a coroutine, and may be run again from its start, with the answers that were
given: it asks before it acts.
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
    """What a person is asked to fill in: fields of text, numbers, yes or no, or a choice."""

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
    """A question of another MCP server's, in MCP's own shape: to the person, or to the model."""

    method: str
    params: Mapping[str, Any]


class Interim(Exception):
    """Not the end of the operation: it is run again, from its start."""


class Unanswered(Interim):
    """The person is asked elsewhere; the operation is run again with the answers."""

    def __init__(self, questions: Mapping[str, Question | Foreign]) -> None:
        super().__init__(", ".join(questions))
        self.questions = questions


class Detached(Interim):
    """It goes on where nobody waits for it, with the arguments as the pipeline let them pass."""

    arguments: Mapping[str, Any] = {}
    redacted = 0
    """How many credentials were taken out of the arguments."""


class Conversation(Protocol):
    """Connects a running operation with its caller; each door has its own."""

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Say how far it is."""

    async def ask(self, key: str, text: str, form: type[F]) -> F:
        """Put a question to the person; `key` tells it from the operation's other ones.

        Raises Declined, or Unsupported where nobody can be asked.
        """

    async def ask_all(self, questions: Mapping[str, Question]) -> Mapping[str, Form]:
        """Put several at once."""

    @property
    def replied(self) -> Collection[str]:
        """The keys of what was replied to before this run."""

    async def pass_on(self, questions: Mapping[str, Foreign]) -> Mapping[str, Any]:
        """Put another server's questions to the caller's client; its replies as they come.

        Raises Unsupported where it answers none such, Declined where it will not.
        """

    def header(self, name: str) -> str | None:
        """What the caller's request says there, for a door that has headers."""

    async def take_time(self) -> bool:
        """From here on it takes long: let the caller come back for the result, if it can.

        Says whether it will; else it goes on waiting.
        """

    def allowance(self, seconds: float) -> float:
        """How long an operation with that time limit may take in this conversation."""

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        """Run something short that is not a coroutine, such as a service that asks the database."""


def do_and_let_go(work: Callable[[], Outcome]) -> Outcome:
    """In a thread of a pool, which keeps no connection to the database for its next work."""
    try:
        return work()
    finally:
        close_old_connections()


class Alone:
    """For a door where nobody can be asked: a script, a command."""

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
        raise Unsupported(f"nobody answers {methods} here", ability="questions")

    def header(self, name: str) -> str | None:
        return self._headers.get(name)

    async def take_time(self) -> bool:
        return False

    def allowance(self, seconds: float) -> float:
        return seconds

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        return await asyncio.to_thread(do_and_let_go, work)
