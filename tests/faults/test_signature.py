"""How errors are compared: by their stacks, and for being the same one again."""

import re

import pytest

from contextd.faults import fingerprint, focus, normalize, parse, signature, stack_overlap

JAVA = """\
java.lang.IllegalStateException: order 17 is closed
\tat org.springframework.util.Assert.state(Assert.java:76)
\tat com.acme.Orders.add(Orders.java:31)
\tat com.acme.Api.lambda$post$3(Api.java:12)
\tat java.lang.Thread.run(Thread.java:829)
Caused by: java.io.IOException: gone
\tat com.acme.Disk.read(Disk.java:3)"""
PYTHON = """\
Traceback (most recent call last):
  File "/srv/one/app/main.py", line 3, in <module>
    run()
  File "/srv/one/app/jobs.py", line 9, in run
    fetch(7)
KeyError: 7"""

JEST = """\
  \u25cf cart {}

    expect(received).toBe(expected) // Object.is equality

    Expected: {}
    Received: 2

    > 9 |   expect(cart.size).toBe(3);
        |                     ^

      at Object.<anonymous> (src/cart.test.js:9:10)"""
RSPEC = """\
  1) Cart
     Failure/Error: expect(cart.{}).to eq({})

       (compared using ==)
     # ./spec/cart_spec.rb:5:in `block (2 levels) in <top (required)>'"""


def fingerprint_of(text: str, error_type: str = "") -> str:
    return fingerprint(parse(text), normalize(focus(text)), error_type)


def test_a_signature_begins_where_the_error_began() -> None:
    assert signature(parse(JAVA)) == (
        "com.acme.disk.read|disk.java",
        "com.acme.orders.add|orders.java",
        "com.acme.api.lambda$post|api.java",
    )


def test_folders_and_lines_do_not_matter() -> None:
    elsewhere = PYTHON.replace("/srv/one", "C:\\two").replace("line 9", "line 90")

    assert signature(parse(PYTHON)) == ("run|jobs.py", "<module>|main.py")
    assert signature(parse(elsewhere)) == signature(parse(PYTHON))


def test_recursion_counts_once() -> None:
    frame = '  File "walk.py", line 5, in walk\n    walk(node)\n'
    fault = parse(f"Traceback (most recent call last):\n{frame * 50}RecursionError: too deep")

    assert signature(fault) == ("walk|walk.py",)


def test_frames_of_libraries_count_where_there_are_no_others() -> None:
    fault = parse("a.B: x\n\tat java.lang.Thread.run(Thread.java:829)")

    assert signature(fault) == ("java.lang.thread.run|thread.java",)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("abc", "abc", 1.0),
        ("abc", "cba", 1.0),
        ("abc", "xyz", 0.0),
        ("", "", 0.0),
        ("abc", "", 0.0),
        ("ab", "ax", 2 / 3),
        ("ab", "xb", 1 / 3),
        ("ab", "a", 2 / 2.5),
    ],
)
def test_stacks_overlap_by_what_they_share(one: str, other: str, overlap: float) -> None:
    assert stack_overlap(one, other) == pytest.approx(overlap)
    assert stack_overlap(other, one) == pytest.approx(overlap)


def test_an_error_that_occurs_again_has_the_same_fingerprint() -> None:
    again = JAVA.replace("17", "42").replace(":31)", ":33)").replace("$post$3", "$post$9")
    decorated = "\n".join(f"2024-05-01T12:00:00.1Z {line}" for line in again.split("\n"))

    assert fingerprint_of(decorated) == fingerprint_of(JAVA)
    assert re.fullmatch("[0-9a-f]{64}", fingerprint_of(JAVA))


def test_the_given_type_goes_before_the_one_found() -> None:
    assert fingerprint_of("no such job", "ValueError") == fingerprint_of("ValueError: no such job")
    assert fingerprint_of("no such job", "valueerror") == fingerprint_of(
        "no such job", "ValueError"
    )
    assert fingerprint_of("no such job", "KeyError") != fingerprint_of("no such job", "ValueError")


def test_another_message_or_stack_is_another_error() -> None:
    assert fingerprint_of(JAVA.replace("is closed", "is paid")) != fingerprint_of(JAVA)
    assert fingerprint_of(JAVA.replace("Disk", "Tape")) != fingerprint_of(JAVA)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bind: address already in use\nexit status 1", "connection refused\nexit status 1"),
        ("free(): double free\nAborted (core dumped)", "stack smashing\nAborted (core dumped)"),
        (
            "the zeppelin has no gas\n##[error]Process completed with exit code 1.",
            "the submarine leaks\n##[error]Process completed with exit code 1.",
        ),
        ("cc a.c\nno gas\nmake: *** [a] Error 2", "cc a.c\nno oil\nmake: *** [a] Error 2"),
        ("build of the day\nerror: no gas", "build of the night\nerror: no gas"),
        (
            "1 validation error for Settings\nDATABASE_URL\n  Field required",
            "1 validation error for Settings\nSECRET_KEY\n  Field required",
        ),
        ("curl error -104", "curl error -110"),
        ("GET /users: 404", "GET /users: 500"),
        ("503", "404"),
        (JEST.format("adds", "3"), JEST.format("removes", "0")),
        (RSPEC.format("total", "3"), RSPEC.format("count", "0")),
    ],
)
def test_errors_of_no_known_form_differ_by_all_that_was_printed(one: str, other: str) -> None:
    assert fingerprint_of(one) != fingerprint_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "listen tcp 0.0.0.0:8080: bind: address already in use\nexit status 1",
            "listen tcp 127.0.0.1:9090: bind: address already in use\nexit status 1",
        ),
        ("worker 4711 has no gas\nAborted", "worker 12 has no gas\nAborted"),
        ("no gas in 0x7f3a2b, pid: 404", "no gas in 0x5581cc90, pid: 512"),
    ],
)
def test_addresses_and_process_ids_do_not_make_another_error(one: str, other: str) -> None:
    assert fingerprint_of(one) == fingerprint_of(other)


def test_a_fingerprint_stays_what_it_was() -> None:
    """It is stored: a change of this value makes every stored error a new one."""
    assert fingerprint_of("ValueError: no such job") == (
        "b6705be0c96d5151c9e79d55e62a9a0249145542865bf7623c503261f08037ea"
    )
