"""Whatever text comes in, nothing goes wrong."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from contextd.faults import (
    clean,
    family,
    fingerprint,
    focus,
    normalize,
    parse,
    same_type,
    signature,
    stack_overlap,
)
from tests.faults.samples import samples

LINES = sorted({line for sample in samples() for line in sample.text.split("\n")})
MARKS = [
    "\x1b[", "\x1b[31m", "[0m", "\r", "\t", "\n", " ", "0x", "12", ":", "::", "/", "\\", "$", "@",
    "-", ".", "(", ")", "[", "]", "'", "line ", "at ", "tmp", "a1b2c3d", "May 1", "ERROR", "ms",
    "2024-05-01T12:00:00Z ", "web_1 | ", "[INFO] ", "ERROR:a:", "exit code ", "HTTP ", "\ud800",
    "\u2502 ", "\u2575", "a\r\u2502 bcd",
]  # fmt: skip
PIECES = st.text(max_size=20) | st.sampled_from(MARKS) | st.sampled_from(LINES)
TEXTS = st.text(alphabet=st.characters(), max_size=300) | st.one_of(
    st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=12).map("\n".join)
)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_every_text_can_be_read(text: str) -> None:
    fault = parse(text)

    assert family(fault.error_type, fault.message) is None or fault.message or fault.error_type
    assert same_type(fault.error_type, fault.error_type) or not re.search(r"\w", fault.error_type)
    assert re.fullmatch("[0-9a-f]{64}", fingerprint(fault, normalize(focus(text))))


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = clean(text)

    assert clean(cleaned) == cleaned
    assert cleaned.count("\n") == text.count("\n")


@given(TEXTS)
@settings(max_examples=500, deadline=None)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    normalized = normalize(text)

    assert normalize(normalized) == normalized
    assert len(normalized) <= len(text)


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_an_overlap_is_a_share_and_has_no_direction(one: str, other: str) -> None:
    first, second = signature(parse(one)), signature(parse(other))
    overlap = stack_overlap(first, second)

    assert 0 <= overlap <= 1
    assert overlap == stack_overlap(second, first)
    assert stack_overlap(first, first) == bool(first)
