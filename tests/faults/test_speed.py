"""A long text is read in time that grows with its length, and no faster."""

from collections.abc import Callable

import pytest

from benchmarks.parsing import TRACES, best_time, trace
from contextd.faults import clean, focus, normalize, parse

HOSTILE_LENGTH = 20_000  # enough to see how the time grows
# A quiet machine may take 20 ms, which `make bench` measures (docs/benchmarks.md). Here it is twice
# that, since the tests of other workers share the processor.
SECONDS = 0.040

HOSTILE = [
    "a", " ", "\n", "a\n", "a.", "a:", "a::", "A::B", "1", "1.", "-1", "1m", "0x", "/", "/a", "\\",
    "(", "@", "$1", "'", "| ", "[0", "[0[0m", "\x1b[", "\x1b]", "\r", "==1== ", "#0 ", " at a",
    "    at a.b(\n", "Error", "error: ", "error:\n", "x:1:", "x:1: error ", "x(1): ", " in a",
    "Fatal error: x in ", "panic: a\n", "thread 'main' panicked at 'x\n", "Caused by: a.B: c\n",
    " ---> System.X: y", '  File "a', '  File "a", line 1\n', "E  a\n", "[main] ", "ERROR [main] ",
    "npm ERR! code X\n", "exit code ", "2024-05-01T12:00:00Z ", "web-1 | ", "tmp",
    "abcdef1", "\ud800", '  File "a", line 1\n  +------',
    "[0] ", "api  | ", "api  |\n", "b\tc\t", "Suppressed: a\n", "  Suppressed: a\n   b\n",
    "Traceback (most recent call last):\n", "\t1: from a\n", "Error:\n   0: a\n", "   1: a\n",
    "PHP Fatal error:  Uncaught A: b\n", "Next A: b in ", "[errors]: [\n", "<b>", "<br />",
    "Fatal Python error: a\n", "\u25cf a\n", "Failure/Error: a\n", ": 404", " (404", "failed: ",
    '"\\n at ', "* What went wrong:\n", "_ ",
]  # fmt: skip


# What is repeated stands between the other two.
STRETCHED = [
    ("exit ", "13", "x"), ("a ", "/+", " b"), ("a", ":1", "b"), ("d", "80:", "x"),
    ("E: ", "1.1", "a"),
    ("a.c:1: error: a", " ", "b"), ("1:1 error a", " ", "!"), ("a(1): error CS1: a", " [a", ""),
    ("", "level=error ", ""), ("", "error undefined ", ""), ("x.rb:1\n", "#", ""),
    ("a.B: x\n\tat ", "/", "(A.java:1)"), ("a.B: x\n\tat ", "a/", "(A.java:1)"),
    ("System.E: x\n   at A.B(", "[] a) in C", "\n   at System.X()"),
    ("panic: a", " [recovered", ""), ("#0 ", "a(", ""), ("    #0 0x1 in ", "a ", "\n#0 "),
]  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_of_the_greatest_length_is_read_at_once(name: str) -> None:
    assert best_time(parse, trace(*TRACES[name]), rounds=5) < SECONDS


@pytest.mark.parametrize("function", [parse, clean, normalize, focus])
def test_no_text_takes_more_than_its_share(function: Callable[[str], object]) -> None:
    texts = [*(("", piece, "") for piece in HOSTILE), *STRETCHED]

    suspected = [text for text in texts if grows_too_fast(function, *text)]
    assert not [text for text in suspected if grows_too_fast(function, *text)]


def grows_too_fast(function: Callable[[str], object], before: str, piece: str, after: str) -> bool:
    whole, quarter = (
        best_time(function, before + (piece * length)[:length] + after, rounds=2)
        for length in (HOSTILE_LENGTH, HOSTILE_LENGTH // 4)
    )

    # Sixteen times would be quadratic; the constant is for what is too quick to be measured.
    return whole > 8 * quarter + 0.010
