"""Admissions over MCP are cached for a moment, until access changes."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django.fixtures import Settings

from contextd import changes
from contextd.auth import RequestIdentity
from contextd.bus import AccessChanged
from contextd.callers import Entry, Principal
from contextd.errors import NotAllowed
from contextd.mcp.admissions import Admissions
from contextd.workers import Workers
from contexts import services, tokens
from contexts.models import Context, Permission, Token
from tests.contexts.conftest import MakeContext, MakeToken, grant, make_project

pytestmark = pytest.mark.anyio

FROM_HERE = RequestIdentity.of({"host": "localhost", "x-mcp-context": "shop"}, "127.0.0.1")
FROM_ELSEWHERE = RequestIdentity.of({"host": "localhost", "x-mcp-context": "site"}, "127.0.0.1")

entered: list[str | None] = []


def enter(principal: Principal, name: str | None) -> Entry:
    entered.append(name)
    return Entry(name=name or "default")


def enter_at_the_second_try(principal: Principal, name: str | None) -> Entry:
    entered.append(name)
    if len(entered) == 1:
        raise NotAllowed("not yet")
    return Entry()


def enter_while_something_changes(principal: Principal, name: str | None) -> Entry:
    entered.append(name)
    changes.hear(AccessChanged())
    return Entry()


@pytest.fixture
def admissions(settings: Settings) -> Iterator[Admissions]:
    entered.clear()
    settings.CONTEXTD_ENTER = f"{__name__}.enter"
    workers = Workers(1)
    admissions = Admissions(workers)
    with admissions.hearing():
        yield admissions
    workers.shut_down()


async def test_each_context_is_looked_up_once(admissions: Admissions) -> None:
    for identity in (FROM_HERE, FROM_ELSEWHERE, FROM_HERE):
        admitted = await admissions.admit(identity)
        assert admitted.entry.name == identity.context

    assert entered == ["shop", "site"]


async def test_after_a_change_the_sender_is_looked_up_again(admissions: Admissions) -> None:
    await admissions.admit(FROM_HERE)
    changes.hear(AccessChanged())
    await admissions.admit(FROM_HERE)

    assert entered == ["shop", "shop"]


async def test_an_admission_that_may_have_changed_during_its_lookup_is_not_cached(
    admissions: Admissions, settings: Settings
) -> None:
    settings.CONTEXTD_ENTER = f"{__name__}.enter_while_something_changes"
    for _ in range(2):
        await admissions.admit(FROM_HERE)

    assert entered == ["shop", "shop"]


async def test_a_refusal_is_not_cached(admissions: Admissions, settings: Settings) -> None:
    settings.CONTEXTD_ENTER = f"{__name__}.enter_at_the_second_try"
    with pytest.raises(NotAllowed):
        await admissions.admit(FROM_HERE)
    await admissions.admit(FROM_HERE)

    assert len(entered) == 2


async def test_an_admission_expires(
    admissions: Admissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextd.mcp.admissions.CACHED_SECONDS", 0)
    for _ in range(2):
        await admissions.admit(FROM_HERE)

    assert len(entered) == 2


def enter_never(principal: Principal, name: str | None) -> Entry:
    raise NotAllowed("you have no grant here")


async def test_a_stream_ends_however_often_its_sender_was_refused(
    admissions: Admissions, settings: Settings
) -> None:
    settings.CONTEXTD_ENTER = f"{__name__}.enter_never"
    for _ in range(50):
        with pytest.raises(NotAllowed):
            await admissions.admit(FROM_HERE)

    async with asyncio.timeout(5):
        await admissions.lapse(FROM_HERE)


def enter_twice(principal: Principal, name: str | None) -> Entry:
    entered.append(name)
    if len(entered) > 2:
        raise NotAllowed("not any more")
    return Entry()


async def test_the_sender_of_an_open_stream_is_looked_up_repeatedly(
    admissions: Admissions, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CONTEXTD_ENTER = f"{__name__}.enter_twice"
    monkeypatch.setattr("contextd.mcp.admissions.CACHED_SECONDS", 0)
    monkeypatch.setattr("contextd.mcp.admissions.LOOKUP_EVERY_SECONDS", 0.01)

    await admissions.lapse(FROM_HERE)

    assert len(entered) == 3


async def test_the_sender_of_an_open_stream_is_looked_up_after_a_change(
    admissions: Admissions, settings: Settings
) -> None:
    settings.CONTEXTD_ENTER = f"{__name__}.enter_twice"
    staying = asyncio.ensure_future(admissions.lapse(FROM_HERE))
    for times in (1, 2):
        while len(entered) < times or admissions._cache == {}:
            await asyncio.sleep(0)
        changes.hear(AccessChanged())

    await staying
    assert len(entered) == 3


@pytest.fixture
def announced(transactional_db: None) -> Iterator[list[changes.Announcement]]:
    """Return the announced changes of access."""
    heard: list[changes.Announcement] = []

    def hear(announcement: changes.Announcement) -> None:
        if isinstance(announcement, AccessChanged):
            heard.append(announcement)

    end = changes.subscribe(hear)
    yield heard
    end()


def shop() -> Context:
    return Context.objects.get(name="shop")


def ann() -> User:
    return User.objects.get(username="ann")


def switch_off(record: Context | User) -> None:
    record.is_active = False
    record.save()


CHANGES: list[Callable[[], object]] = [
    lambda: services.grant(shop(), Permission.READ, user="ann"),
    lambda: services.revoke(shop(), user="ann"),
    lambda: shop().projects.clear(),
    lambda: switch_off(shop()),
    lambda: shop().delete(),
    lambda: tokens.revoke(Token.objects.get()),
    lambda: Token.objects.get().contexts.add(shop()),
    lambda: Token.objects.get().delete(),
    lambda: ann().groups.add(Group.objects.create(name="leads")),
    lambda: switch_off(ann()),
    lambda: ann().delete(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_access_is_announced(
    announced: list[changes.Announcement],
    make_context: MakeContext,
    token_of: MakeToken,
    change: Callable[[], object],
) -> None:
    user = User.objects.create_user("ann")
    grant(make_context("shop", projects=(make_project("/w/shop"),)), user)
    token_of(user)
    announced.clear()

    change()

    assert announced


def test_a_login_is_no_change_of_access(announced: list[changes.Announcement]) -> None:
    user = User.objects.create_user("ann")
    announced.clear()

    user.last_login = timezone.now()
    user.save(update_fields=["last_login"])

    assert announced == []
