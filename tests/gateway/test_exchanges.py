"""What the gateway keeps of calls that have ended."""

import asyncio
from typing import Any

from gateway.supervision.exchange import Exchange, Exchanges

ASKED: Any = "what was asked"


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
