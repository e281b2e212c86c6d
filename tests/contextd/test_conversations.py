"""Operations that wait, called where nobody can be asked: scripts and commands."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User

from contextd import pipeline
from contextd.callers import Caller
from contextd.conversations import Alone, Conversation, Form, Outcome, Question
from contextd.errors import Busy, Internal, TimedOut, Unsupported
from contextd.operations import Operation, Request, Result, operation
from contextd.signals import operation_finished
from tests.conftest import Call


class Nothing(Request):
    """Wait."""


class Counted(Result):
    number: int


class Sure(Form):
    sure: bool


@pytest.fixture
def waiting(declared: dict[str, Operation]) -> None:
    @operation("test_count", effect="read", timeout=5)
    async def count(caller: Caller, request: Nothing, talk: Conversation) -> Counted:
        await talk.report(1, 2)
        is_detached = await talk.take_time()
        return Counted(number=await talk.do(User.objects.count) + is_detached)

    @operation("test_ask", effect="read", timeout=5)
    async def ask(caller: Caller, request: Nothing, talk: Conversation) -> Counted:
        await talk.ask("sure", "Are you sure?", Sure)
        return Counted(number=0)

    @operation("test_ask_all", effect="read", timeout=5)
    async def ask_all(caller: Caller, request: Nothing, talk: Conversation) -> Counted:
        await talk.ask_all({"sure": Question("Are you sure?", Sure)})
        return Counted(number=0)

    @operation("test_crash", effect="read", timeout=5)
    async def crash(caller: Caller, request: Nothing, talk: Conversation) -> Counted:
        raise RuntimeError("a bug")

    @operation("test_linger", effect="read", timeout=0.05)
    async def linger(caller: Caller, request: Nothing, talk: Conversation) -> Counted:
        await asyncio.sleep(5)
        return Counted(number=0)


@pytest.mark.usefixtures("waiting")
def test_an_operation_that_waits_runs_to_its_end(call: Call) -> None:
    assert call("test_count").number == 0


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("name", ["test_ask", "test_ask_all"])
def test_an_operation_that_cannot_ask_names_its_question(call: Call, name: str) -> None:
    with pytest.raises(Unsupported, match="a person has to be asked: Are you sure"):
        call(name)


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize(("name", "error"), [("test_crash", Internal), ("test_linger", TimedOut)])
def test_an_operation_that_waits_fails_like_any_other(
    call: Call, name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(name)


@pytest.fixture
def recorded() -> Iterator[list[str]]:
    """The categories that calls end with."""
    categories: list[str] = []

    def note(category: str, **kwargs: object) -> None:
        categories.append(category)

    operation_finished.connect(note)
    yield categories
    operation_finished.disconnect(note)


@pytest.mark.usefixtures("waiting")
def test_an_operation_that_waits_is_recorded_like_any_other(
    call: Call, recorded: list[str]
) -> None:
    call("test_count")
    with pytest.raises(Unsupported):
        call("test_ask")

    assert recorded == ["ok", "validation"]


class Crowded(Alone):
    """All workers are taken once the operation has done its work."""

    WORK = 2
    """To let the call pass, and what `test_count` does."""

    def __init__(self) -> None:
        super().__init__()
        self._done = 0

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        self._done += 1
        if self._done > self.WORK:
            raise Busy("too many calls are waiting; try again later")
        return await super().do(work)


@pytest.mark.usefixtures("waiting", "transactional_db")
def test_a_finished_call_is_answered_and_recorded_while_the_workers_are_busy(
    caller: Caller, recorded: list[str]
) -> None:
    answer = pipeline.call("test_count", {}, caller, Crowded())

    assert isinstance(answer, Counted)
    assert recorded == ["ok"]


def test_a_form_has_only_what_clients_have_inputs_for() -> None:
    with pytest.raises(TypeError, match="'parts' of Nested"):

        class Nested(Form):
            parts: dict[str, str]
