"""Whom a change of a resource is announced to."""

import anyio
import pytest

from contextd.callers import Caller, Entry
from contextd.errors import Busy, ContextdError, NotAllowed, NotAuthenticated, NotFound, TimedOut
from contextd.mcp import audience as audiences
from contextd.mcp.audience import MAX_CHECKS_AT_ONCE, Audience

pytestmark = pytest.mark.anyio

ALICE = Caller(principal="alice", door="mcp", entry=Entry())
BOB = Caller(principal="bob", door="mcp", entry=Entry())


class Checked:
    """Stands for the resources; fails first with the errors given."""

    def __init__(self, *errors: ContextdError) -> None:
        self.errors = list(errors)
        self.asked: list[tuple[str, str]] = []
        self.at_once = self.most_at_once = 0

    async def is_readable(self, uri: str, caller: Caller) -> bool:
        self.asked.append((caller.principal, uri))
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        await anyio.sleep(0)
        self.at_once -= 1
        if self.errors:
            raise self.errors.pop(0)
        return True


@pytest.fixture(autouse=True)
def brief_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audiences, "PAUSES_SECONDS", (0.0, 0.0))


def of(checked: Checked) -> Audience:
    return Audience(checked)  # type: ignore[arg-type]  # of which it uses one method


async def alice() -> Caller:
    return ALICE


async def bob() -> Caller:
    return BOB


async def test_callers_with_the_same_permissions_are_checked_once() -> None:
    checked = Checked()
    audience = of(checked)

    assert [await audience.may_read(reader, "a:1") for reader in (alice, alice, bob)] == [True] * 3
    assert checked.asked == [("alice", "a:1"), ("bob", "a:1")]


async def test_few_are_checked_at_once_and_none_is_left_out() -> None:
    checked = Checked()
    audience = of(checked)
    notified: list[str] = []

    async def notify(uri: str) -> None:
        if await audience.may_read(alice, uri):
            notified.append(uri)

    async with anyio.create_task_group() as tasks:
        for number in range(300):
            tasks.start_soon(notify, f"a:{number}")

    assert len(notified) == 300
    assert checked.most_at_once <= MAX_CHECKS_AT_ONCE


@pytest.mark.parametrize("error", [NotAllowed("no"), NotFound("no"), NotAuthenticated("no")])
async def test_listeners_without_permission_are_not_notified(error: ContextdError) -> None:
    async def refused() -> Caller:
        raise error

    assert not await of(Checked()).may_read(refused, "a:1")


async def test_a_check_that_finds_no_worker_is_made_again() -> None:
    checked = Checked(Busy("full"))

    assert await of(checked).may_read(alice, "a:1")
    assert len(checked.asked) == 2


async def test_all_listeners_are_notified_when_permissions_are_unknown() -> None:
    checked = Checked(*[TimedOut("late")] * 10)
    audience = of(checked)

    assert await audience.may_read(alice, "a:1")
    assert await audience.may_read(alice, "a:2")
    assert len(checked.asked) == 2
