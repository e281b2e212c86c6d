from typing import Any

import pytest

from contextd import pipeline
from contextd.errors import Invalid
from tests.conftest import Call, StrangerTo
from tests.remediations.conftest import Save

TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/orders.py", line {line}, in total
    return sum(line.price for line in lines)
  File "/srv/shop/prices.py", line {line}, in price
    return PRICES[self.article]
KeyError: '{article}'"""


def ids(found: Any) -> list[str]:
    return [match.id for match in found.results]


NETWORK_ERRORS = [
    f"{prefix}: {reason}"
    for prefix in [
        "dial tcp: lookup registry.example.com",
        "Post https://api.example.com/v1/orders",
        "psycopg.OperationalError: connection to server at db.example.com",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443)",
        "Error: connect to redis://cache:6379",
        "ssh: connect to host build.example.com port 22",
    ]
    for reason in [
        "no such host",
        "i/o timeout",
        "connection reset by peer",
        "TLS handshake timeout",
        "network is unreachable",
        "no route to host",
    ]
]


@pytest.mark.parametrize("others", [[], NETWORK_ERRORS], ids=["alone", "among others"])
def test_the_example_of_the_specification_holds(call: Call, save: Save, others: list[str]) -> None:
    for error in others:
        save(error)
    saved = call(
        "remediation_save",
        error_message="dial tcp 127.0.0.1:8080: connect: connection refused",
        error_type="ConnectionError",
        solution="Start the server: ./server",
        severity="medium",
        tags=["networking", "server"],
    )

    found = call("remediation_search", error_message="connection refused", limit=5, min_score=0.6)
    assert (found.results[0].id, found.results[0].error_type_match) == (saved.id, True)


def test_results_carry_what_was_saved_and_how_well_it_fits(call: Call, save: Save) -> None:
    saved = save("disk is full", error_type="OSError", context={"a": "b"}, tags=["c"])

    found = call("remediation_search", error_message="OSError: disk is full")
    (match,) = found.results
    assert (found.query, found.total, found.notice) == ("OSError: disk is full", 1, None)
    assert (match.id, match.error_message, match.error_type) == (saved, "disk is full", "OSError")
    assert (match.solution, match.tags, match.context) == ("Fixed: disk is full", ["c"], {"a": "b"})
    assert (match.seen_count, match.worked, match.did_not_work, match.outdated) == (1, 0, 0, 0)
    assert match.match_score == pytest.approx(0.7 * match.semantic_score + 0.3 * match.string_score)
    assert 0 < match.string_score <= 1
    assert 0 < match.semantic_score <= 1


def test_fixes_of_the_same_error_are_ordered_by_what_worked_not_by_their_length(
    call: Call, save: Save
) -> None:
    error = "the frob daemon lost its socket"
    short = save(error, solution="rm -rf /var/lib/frob")
    long = save(error, solution="Stop the daemon, remove its stale socket, then start it again.")

    before = call("remediation_search", error_message=error).results
    call("remediation_feedback", id=long, outcome="worked")
    after = call("remediation_search", error_message=error)

    assert len({match.match_score for match in before}) == 1
    assert ids(after) == [long, short]


@pytest.mark.parametrize("line", ["Error", "KeyError", "exit code 1", "Build failed"])
def test_an_error_that_says_nothing_matches_none(call: Call, save: Save, line: str) -> None:
    save("KeyError: 'shipping_address' in the checkout", error_type="KeyError")
    save("Error: connect ECONNREFUSED 127.0.0.1:9095")
    save("Build failed: the compiler was killed with exit code 1")

    assert ids(call("remediation_search", error_message=line)) == []


def test_an_error_that_says_nothing_is_found_as_it_was_saved(call: Call, save: Save) -> None:
    saved = save("KeyError", error_type="KeyError")

    assert ids(call("remediation_search", error_message="KeyError")) == [saved]


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("ECONNREFUSED", "Error: connect ECONNREFUSED 127.0.0.1:9095"),
        ("CrashLoopBackOff", "pod web is in CrashLoopBackOff"),
        ("error TS2322", "error TS2322: type string is not assignable"),
        ("ORA-00942", "ORA-00942: table or view does not exist"),
        (
            "\u65e0\u6cd5\u8fde\u63a5\u6570\u636e\u5e93",
            "\u65e0\u6cd5\u8fde\u63a5\u6570\u636e\u5e93\u670d\u52a1",
        ),
    ],
)
def test_a_code_or_an_unspaced_sentence_is_enough(
    call: Call, save: Save, line: str, printed: str
) -> None:
    saved = save(printed)

    assert ids(call("remediation_search", error_message=line)) == [saved]


def test_a_line_that_says_nothing_is_not_the_same_as_one_with_more_output(
    call: Call, save: Save
) -> None:
    save("Error: Command failed\nnpm ERR! missing script: build")
    save("Error: Command failed", stack_trace="ENOSPC: no space left on device")
    alone = save("Error: Command failed")

    assert ids(call("remediation_search", error_message="Error: Command failed")) == [alone]


@pytest.mark.parametrize(
    "line", ["KeyError: 'user_id'", "RuntimeError: timeout", "HTTP 503", "SIGSEGV", "deadlock"]
)
def test_a_line_with_one_informative_word_is_found_without_the_stack_it_was_saved_with(
    call: Call, save: Save, line: str
) -> None:
    saved = save(line, stack_trace=f"{line}\n\tat com.acme.Cart.total(Cart.java:12)")
    save(f"{line}\nnpm ERR! missing script: build")

    found = call("remediation_search", error_message=line)
    assert [(match.id, match.match_score) for match in found.results] == [(saved, 1)]


def test_a_line_with_one_informative_word_is_found_in_a_message_with_its_stack(
    call: Call, save: Save
) -> None:
    saved = save(TRACEBACK.format(line=10, article="pear"), error_type="KeyError")

    assert ids(call("remediation_search", error_message="KeyError: 'pear'")) == [saved]


@pytest.mark.parametrize("line", ["java.lang.NullPointerException", "Error", "exit code 1"])
def test_a_line_without_an_informative_word_needs_the_stack_it_was_saved_with(
    call: Call, save: Save, line: str
) -> None:
    save(line, stack_trace=f"{line}\n\tat com.acme.Cart.total(Cart.java:12)")

    assert ids(call("remediation_search", error_message=line)) == []


@pytest.mark.parametrize("solution", ["restart", "restart it and look at the queue. " * 40])
def test_the_same_error_matches_fully_although_its_type_is_not_printed(
    call: Call, save: Save, solution: str
) -> None:
    stack = "goroutine 1 [running]:\nmain.drain(0xc0000)\n\t/w/shop/queue.go:12 +0x1d"
    save("the queue is stuck", error_type="QueueError", stack_trace=stack, solution=solution)

    found = call("remediation_search", error_message="the queue is stuck", stack_trace=stack)
    assert [match.match_score for match in found.results] == [1]


FRAME = """
  File "/srv/shop/{0}.py", line {1}, in compute_{0}_of_the_customer
    return self.{0}_repository.compute_for(customer_id, currency=self.configuration.currency)"""
PARTS = ["views", "carts", "orders", "prices", "discounts", "currencies"]
LONG_TRACE = (
    "Traceback (most recent call last):"
    + "".join(FRAME.format(part, line) for line, part in enumerate(PARTS, start=10))
    + "\ndecimal.InvalidOperation: quantize result has too many digits"
)
NAMES = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november"
LONG_LINE = "cannot start the frob daemon: " + ", ".join(
    f"unit {name} has no socket" for name in NAMES.split()
)
SHORT_FIX = "Restart it."
LONG_FIX = "Stop the daemon, remove its stale sockets, and start it again with --clean. " * 20


@pytest.mark.parametrize("error", [LONG_TRACE, LONG_LINE])
def test_the_same_long_error_matches_fully_whatever_the_length_of_its_fix(
    call: Call, save: Save, error: str
) -> None:
    short, long = save(error, solution=SHORT_FIX), save(error, solution=LONG_FIX)

    before = call("remediation_search", error_message=error).results
    call("remediation_feedback", id=long, outcome="worked")
    after = call("remediation_search", error_message=error)

    assert [match.match_score for match in before] == [1, 1]
    assert ids(after) == [long, short]


def test_output_that_only_begins_alike_is_not_the_same(call: Call, save: Save) -> None:
    save("the frob daemon died\nsaid exit code 137 of its child")

    asked = "the frob daemon died\nsaid exit code 1"
    found = call("remediation_search", error_message=asked)
    assert found.results[0].match_score < 1


def test_of_equal_matches_the_one_with_the_same_numbers_comes_first(call: Call, save: Save) -> None:
    other = save("shard 7 of the index is corrupt", solution="rebuild shard seven")
    same = save("shard 8 of the index is corrupt", solution="rebuild shard eight")
    call("remediation_feedback", id=other, outcome="worked")

    found = call("remediation_search", error_message="shard 8 of the index is corrupt")
    assert ids(found) == [same, other]


def test_the_best_match_comes_first_and_limit_cuts_the_rest(call: Call, save: Save) -> None:
    for number in range(4):
        save(f"cannot open file number {'abcd'[number]}")
    best = save("cannot open socket")

    found = call("remediation_search", error_message="cannot open socket", limit=3, min_score=0)
    scores = [match.match_score for match in found.results]
    assert ids(found)[0] == best
    assert (len(scores), found.total) == (3, 3)
    assert scores == sorted(scores, reverse=True)


def test_worse_matches_than_asked_for_are_left_out(call: Call, save: Save) -> None:
    good, bad = save("connection to the database timed out"), save("the button is too green")

    everything = call("remediation_search", error_message="database timed out", min_score=0)
    assert ids(everything) == [good, bad]
    assert ids(call("remediation_search", error_message="database timed out")) == [good]
    assert call("remediation_search", error_message="database timed out", min_score=1).total == 0


def test_the_same_error_with_other_numbers_and_paths_is_found(call: Call, save: Save) -> None:
    saved = save(TRACEBACK.format(line=10, article="pear"), error_type="KeyError")
    for number in range(5):
        save(f"KeyError: 'setting number {'abcde'[number]}'", error_type="KeyError")

    found = call("remediation_search", error_message=TRACEBACK.format(line=99, article="fig"))
    assert ids(found)[0] == saved
    assert found.results[0].match_score > 0.8


def test_a_number_alone_is_found(call: Call, save: Save) -> None:
    saved = save("503")
    save("404")

    assert ids(call("remediation_search", error_message="503"))[0] == saved


def test_a_stack_that_is_alike_is_said(call: Call, save: Save) -> None:
    with_stack = save(
        "KeyError: 'pear'",
        error_type="KeyError",
        stack_trace=TRACEBACK.format(line=10, article="pear"),
    )
    without = save("KeyError: 'plum'", error_type="KeyError")

    stack = TRACEBACK.format(line=77, article="fig")
    found = call("remediation_search", error_message="KeyError: 'fig'", stack_trace=stack)
    assert {match.id: match.stack_trace_match for match in found.results} == {
        with_stack: True,
        without: False,
    }
    assert ids(found)[0] == with_stack


NO_YAML = "ModuleNotFoundError: No module named 'yaml'"


@pytest.mark.parametrize(
    ("saved", "error_type", "asked", "is_kindred"),
    [
        ("yaml is missing", "ImportError", NO_YAML, True),
        ("yaml is missing", "builtins.ModuleNotFoundError", NO_YAML, True),
        ("yaml is missing", "KeyError", NO_YAML, False),
        ("the queue is stuck", "QueueError", "the queue is stuck", True),
        ("the queue is stuck", "QueueError", "the queue is very stuck", False),
        ("the proxy is down", "ECONNREFUSED", "the proxy: connection refused", True),
        ("the proxy: connection refused", "ProxyError", "the proxy said ECONNREFUSED", True),
        ("the proxy: connection refused", "ProxyError", "the proxy: connection reset", False),
    ],
)
def test_a_type_of_the_same_family_is_said_whether_it_is_printed_or_not(
    call: Call, save: Save, saved: str, error_type: str, asked: str, is_kindred: bool
) -> None:
    save(saved, error_type=error_type)

    found = call("remediation_search", error_message=asked, min_score=0)
    assert found.results[0].error_type_match is is_kindred


def test_all_given_tags_are_needed_even_when_others_fit_better(call: Call, save: Save) -> None:
    for number in range(120):
        save(f"migration failed at step {'x' * (number + 1)}", tags=["db"])
    rare = save("the kittens are asleep", tags=["db", "rare"])

    found = call(
        "remediation_search", error_message="migration failed", tags=["db", "rare"], min_score=0
    )
    assert ids(found) == [rare]


def test_what_is_out_of_range_is_clamped(call: Call, save: Save) -> None:
    save("boom")
    save("bang")

    found = call("remediation_search", error_message="boom", limit=0, min_score=-3)
    assert found.total == 1
    assert (
        call("remediation_search", error_message="boom again", limit=1000, min_score=7).total == 0
    )


def test_a_minimum_that_is_no_number_is_refused(call: Call) -> None:
    with pytest.raises(Invalid, match="min_score must be a finite number"):
        call("remediation_search", error_message="boom", min_score=float("nan"))


def test_projects_that_are_not_granted_stay_hidden_and_others_do_not_vanish(
    call: Call, save: Save, stranger_to: StrangerTo
) -> None:
    for number in range(60):
        save(f"login failed for tenant {'x' * (number + 1)}", project_path="/w/secret")
    shared = save("login failed")
    granted = save("login failed again", project_path="/w/shop")

    asked = {"error_message": "login failed", "limit": 10, "min_score": 0}
    found = pipeline.call("remediation_search", asked, stranger_to("/w/secret"))
    assert set(ids(found)) == {shared, granted}
    assert len(ids(call("remediation_search", **asked))) == 10


def test_nothing_is_known_yet(call: Call) -> None:
    assert call("remediation_search", error_message="boom").total == 0
