"""How failures and structured results of upstreams are worded."""

import json
from typing import Any

import pytest

from contextd.logs import JsonFormatter
from gateway import answers
from gateway.offering import Offer

OFFER = Offer(
    namespace="odd",
    name="echo",
    wire_name="odd__echo",
    definition={},
    gives_plain_json=False,
    redacts_arguments=True,
    headers={},
    seconds=1,
)


@pytest.mark.parametrize(
    ("structured", "told"),
    [
        ({"message": "a", "error": "b", "detail": "c"}, "a"),
        ({"error": "b", "detail": "c"}, "b"),
        ({"error": {"message": "b"}, "detail": "c"}, "b"),
        ({"detail": "c"}, "c"),
        ({"message": " ", "detail": "c"}, "c"),
        ({"message": "a", "code": "E1"}, "a (code=E1)"),
        ({"message": "a", "errorCode": 7}, "a (code=7)"),
        ({"message": "a", "statusCode": 404, "retriable": False}, "a (code=404 retriable=false)"),
        ({"message": "a", "retryable": "yes"}, "a (retriable=true)"),
        ({"message": "a", "retriable": 0}, "a (retriable=false)"),
        ({"message": "a", "retriable": "perhaps"}, "a"),
        ({"error": {"message": "a", "code": "E2", "retryable": 1}}, "a (code=E2 retriable=true)"),
    ],
)
def test_the_best_message_is_told(structured: dict[str, Any], told: str) -> None:
    error = answers.failure("odd:fail", {"isError": True, "structuredContent": structured})

    assert error.message == f"odd:fail: {told}"
    assert error.details["cause"] == structured


def test_text_is_told_where_nothing_is_structured() -> None:
    result = {"isError": True, "content": [{"type": "text", "text": "a"}, {"type": "image"}]}

    assert answers.failure("odd:fail", result).message == "odd:fail: a"


def test_without_any_message_the_raw_result_is_cut() -> None:
    error = answers.failure("odd:fail", {"isError": True, "structuredContent": {"a": "x" * 5000}})

    assert error.message.endswith("…")
    assert len(error.message) == len("odd:fail: ") + answers.MAX_RAW_CHARACTERS + 1


def test_yaml_keeps_order_and_signs_and_repeats_what_occurs_twice() -> None:
    twice = {"city": "Zürich"}

    assert answers.to_yaml({"b": twice, "a": twice}) == "b:\n  city: Zürich\na:\n  city: Zürich\n"


def test_yaml_keeps_emoji() -> None:
    assert answers.to_yaml({"a": "😀"}) == "a: 😀\n"


def test_what_is_huge_stays_json() -> None:
    structured = {"a": "x" * answers.MAX_YAML_CHARACTERS}

    (block,) = answers.success(OFFER, {"structuredContent": structured}).content

    assert block["text"] == json.dumps(structured, separators=(",", ":"))


@pytest.mark.parametrize(
    ("structured", "is_large"),
    [
        (None, False),
        ({"a": ["b", 1, None]}, False),
        ({"a": "x" * answers.LARGE_CHARACTERS}, True),
        ({"x" * answers.LARGE_CHARACTERS: 1}, True),
        ([0] * answers.LARGE_CHARACTERS, True),
        ([["abcdefgh"] * 10] * 500, True),
    ],
)
def test_what_is_made_in_a_thread(structured: Any, is_large: bool) -> None:
    assert answers.is_large(structured) is is_large


def test_blocks_that_are_no_text_stay() -> None:
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    result = {"content": [{"type": "text", "text": "{}"}, picture], "structuredContent": {"a": 1}}

    relayed = answers.success(OFFER, result)

    assert relayed.content == [{"type": "text", "text": "a: 1\n"}, picture]


def test_a_long_cause_is_logged_whole(caplog: pytest.LogCaptureFixture) -> None:
    pieces = [f"piece {number};" for number in range(10_000)]

    answers.failure("odd:fail", {"structuredContent": {"message": "no", "pieces": pieces}})

    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    logged = "".join(line["message"].partition("\n")[2] for line in lines)
    assert json.loads(logged)["pieces"] == pieces
    assert all(line["message"].startswith("odd:fail: no (part ") for line in lines)
