"""What the gateway keeps of calls that have ended."""

import asyncio
from dataclasses import replace
from typing import Any

from gateway.supervision.exchange import MAX_WAITING, Asked, Exchange, Exchanges

ASKED = Asked(
    method="tools/call", namespace="odd", own="it", params={}, principal="user:1", headers={}
)


async def report(progress: float, total: float | None, message: str | None) -> None:
    """Nothing is reported."""


async def answer(exchange: Exchange) -> dict[str, Any]:
    return {}


async def ask(exchange: Exchange) -> dict[str, Any]:
    return dict(await exchange.ask({"it": {}}))


async def number_of_timers(work: Any) -> int:
    exchanges = Exchanges()
    exchange = exchanges.begin(ASKED, work)
    await exchanges.follow(exchange, report)
    await exchange.drop()
    timers = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    return sum(not timer.cancelled() for timer in timers)


def test_nothing_is_kept_of_a_call_that_asks_nothing() -> None:
    assert asyncio.run(number_of_timers(answer)) == 0


def test_the_result_of_a_call_that_asks_is_kept_for_its_caller() -> None:
    assert asyncio.run(number_of_timers(ask)) == 1


def test_of_many_calls_that_wait_the_oldest_of_the_same_caller_is_given_up() -> None:
    async def use() -> list[bool]:
        exchanges = Exchanges()
        other = exchanges.begin(replace(ASKED, principal="user:2"), ask)
        begun = [other, *(exchanges.begin(ASKED, ask) for _ in range(MAX_WAITING + 1))]
        for exchange in begun:
            await exchanges.follow(exchange, report)
        ended = [exchange.is_done for exchange in begun]
        await exchanges.drop_all()
        return ended

    assert asyncio.run(use()) == [False, True] + [False] * MAX_WAITING
