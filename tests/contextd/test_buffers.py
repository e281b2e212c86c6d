from collections.abc import Sequence

import pytest
from django.db import OperationalError, ProgrammingError

from contextd import buffers
from contextd.buffers import Buffer
from tests.server import eventually

SOON = 0.01


def test_rows_are_written_together_and_in_their_order() -> None:
    written: list[Sequence[int]] = []
    buffer = Buffer("rows", written.append, SOON)

    for number in range(3):
        buffer.add(number)

    assert eventually(lambda: [row for rows in written for row in rows] == [0, 1, 2])


def test_rows_wait_for_a_database_that_is_away(caplog: pytest.LogCaptureFixture) -> None:
    written: list[int] = []

    def write(rows: Sequence[int]) -> None:
        if not caplog.records:
            raise OperationalError("away")
        written.extend(rows)

    buffer = Buffer("rows", write, SOON)
    for number in range(3):
        buffer.add(number)

    assert eventually(lambda: written == [0, 1, 2])
    assert "rows wait for the database" in caplog.text


def test_rows_that_the_database_refuses_are_lost_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(rows: Sequence[int]) -> None:
        raise ProgrammingError("no such table")

    buffer = Buffer("rows", refuse, None)
    buffer.add(1)
    buffer.flush()

    assert "1 rows are lost" in caplog.text


def test_no_more_rows_wait_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "MAX_WAITING_ROWS", 3)
    written: list[int] = []
    buffer = Buffer("rows", written.extend, None)

    taken = [buffer.add(number) for number in range(5)]
    buffer.flush()

    assert taken == [True, True, True, False, False]
    assert written == [0, 1, 2]
