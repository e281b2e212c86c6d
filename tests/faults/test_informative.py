"""Which texts say enough to know an error by a single word."""

import pytest

from contextd.faults import is_specific


@pytest.mark.parametrize(
    "text",
    [
        *("ECONNREFUSED", "npm error code ERESOLVE", "ERR_REQUIRE_ESM", "TS2322", "ORA-00942"),
        *("CrashLoopBackOff", "OOMKilled", "\u65e0\u6cd5\u8fde\u63a5\u5230"),
    ],
)
def test_a_code_or_a_reason_is_specific(text: str) -> None:
    assert is_specific(text)


@pytest.mark.parametrize(
    "text",
    [
        *("ERROR", "Build failed", "exit code 1", "KeyError", "FileStoreException", "disk"),
        *("java.lang.NullPointerException", "\u9519\u8bef"),
    ],
)
def test_a_level_a_type_or_a_word_is_not(text: str) -> None:
    assert not is_specific(text)
