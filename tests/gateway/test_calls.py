"""Calls of tools of an upstream, through the pipeline like any other."""

import json
import logging

import pytest

from analytics import recording
from analytics.models import Event
from contextd.errors import TimedOut, UpstreamFailed
from contexts.models import AuditEntry
from tests.conftest import Call
from tests.gateway.conftest import Add


def test_a_tool_answers_under_both_names(add: Add, call: Call) -> None:
    add()

    by_canonical = call("odd:echo", word="hello")
    by_wire = call("odd__echo", word="hello")

    assert by_canonical.content == [{"type": "text", "text": '{"word": "hello"}'}]
    assert by_wire == by_canonical


def test_a_structured_result_is_shown_as_yaml(add: Add, call: Call) -> None:
    add()

    result = call("odd:add", a=1, b=2)

    assert result.structured == {"sum": 3}
    assert result.content == [{"type": "text", "text": "sum: 3\n"}]


def test_an_upstream_may_keep_its_plain_json(add: Add, call: Call) -> None:
    add(gives_plain_json=True)

    assert call("odd:add", a=1, b=2).content == [{"type": "text", "text": '{"sum": 3}'}]


def test_a_failure_is_told_by_its_best_message(add: Add, call: Call) -> None:
    add()
    told = {"error": {"message": "quota is used up", "code": "E_QUOTA"}, "retryable": "false"}

    with pytest.raises(UpstreamFailed) as caught:
        call("odd:fail", structured=told)

    assert caught.value.message == "odd:fail: quota is used up (code=E_QUOTA retriable=false)"
    assert caught.value.details["cause"] == told


def test_an_error_of_the_protocol_is_reported_and_logged(
    add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    add()

    with pytest.raises(UpstreamFailed, match=r"odd:refuse: no such thing \(code=-32602\)"):
        call("odd:refuse", data={"reason": "sold out"})

    assert '"data": {"reason": "sold out"}' in caplog.text


def test_a_result_that_breaks_its_schema_is_refused_and_logged(
    add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    add()

    with pytest.raises(UpstreamFailed, match=r"odd:lie: .*sum: 'many' is not of type 'integer'"):
        call("odd:lie")

    assert '"structuredContent": {"sum": "many"}' in caplog.text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("odd:fail", {"structured": {"detail": "no hush-hush", "hush-hush": ["hush-hush"]}}),
        ("odd:refuse", {"message": "no hush-hush", "data": {"key": "hush-hush"}}),
    ],
)
def test_errors_do_not_contain_values_of_settings(
    add: Add,
    call: Call,
    caplog: pytest.LogCaptureFixture,
    name: str,
    arguments: dict[str, object],
) -> None:
    add(settings={"KEY": "hush-hush"})

    with pytest.raises(UpstreamFailed, match=r"no \[KEY\]") as caught:
        call(name, **arguments)

    assert "[KEY]" in str(caught.value.details["cause"])
    assert "hush" not in str(caught.value.details)
    assert "hush" not in caplog.text


def test_a_call_that_takes_too_long_is_ended_and_cancelled(add: Add, call: Call) -> None:
    add(request_timeout_ms=300)

    with pytest.raises(TimedOut, match=r"odd:hang gave no answer within 0.3 s"):
        call("odd:hang")

    assert call("odd:cancelled").content[0]["text"] == "1"


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_arguments_arrive_as_they_are_and_are_shown_nowhere(
    add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    add()

    result = call("odd:echo", password=SECRET)

    assert SECRET in json.dumps(result.content)
    assert result.redacted == 0
    assert SECRET not in caplog.text
    recording.buffer.flush()
    assert Event.objects.exists()
    assert SECRET not in str([*AuditEntry.objects.values(), *Event.objects.values()])


def test_credentials_in_arguments_do_not_leave_where_that_is_asked_for(
    add: Add, call: Call
) -> None:
    add(redacts_arguments=True)

    result = call("odd:echo", note=f"my token is {SECRET}")

    assert SECRET not in json.dumps(result.content)
    assert result.redacted == 1


def test_a_result_whose_schema_cannot_be_used_is_passed_on_and_logged(
    add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    add("unclear")

    assert call("unclear:unusable").structured == {"sum": 3}

    assert "unclear:unusable: a result is passed on unchecked: its output schema" in caplog.text


def test_calls_are_in_the_audit_under_their_canonical_name(add: Add, call: Call) -> None:
    add()

    call("odd:echo")

    assert AuditEntry.objects.get(operation="odd:echo").outcome == "ok"


def test_what_is_printed_beside_messages_is_skipped_and_logged(
    add: Add, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    add("talkative", settings={"KEY": "listening!"})

    assert call("talkative:chatter").content[0]["text"] == "said"
    (record,) = [record for record in caplog.records if record.name.endswith(".talkative")]
    assert "Server is [KEY]" in record.getMessage()


def test_what_is_no_answer_ends_the_call_at_once(add: Add, call: Call) -> None:
    add()

    with pytest.raises(UpstreamFailed, match=r'not a JSON-RPC message .*"no object"'):
        call("odd:mumble")


def test_a_call_without_an_answer_tells_what_was_said_instead(add: Add, call: Call) -> None:
    add(request_timeout_ms=300)
    call("odd:chatter")

    with pytest.raises(TimedOut, match=r"(?s)no answer within 0.3 s.*Server is listening"):
        call("odd:hang")


def test_a_result_may_have_any_keys(add: Add, call: Call) -> None:
    add()

    assert call("odd:held").content[0]["text"] == "kept"


def test_an_error_that_speaks_of_a_session_ends_nothing(add: Add, call: Call) -> None:
    add()
    before = call("odd:pid").content

    with pytest.raises(UpstreamFailed, match="Session not found"):
        call("odd:refuse", code=-32600, message="Session not found")

    assert call("odd:pid").content == before


def test_large_arguments_reach_the_upstream(add: Add, call: Call) -> None:
    add(redacts_arguments=False)

    assert call("odd:pid", filler="x" * 6_000_000).content[0]["text"].isdigit()
