"""The command-line door: `manage.py call`."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line

pytestmark = pytest.mark.django_db(transaction=True)


def run(*words: str) -> str:
    out = StringIO()
    call_command("call", *words, stdout=out)
    return out.getvalue()


def test_it_prints_the_result_as_json() -> None:
    run("checkpoint_save", "summary=a=b", "project_path=/w/shop", 'tags=["x"]')

    listed = json.loads(run("checkpoint_list", "limit=1"))
    assert listed["checkpoints"][0]["summary"] == "a=b"
    assert listed["checkpoints"][0]["tags"] == ["x"]
    assert listed["limit"] == 1


def test_text_that_looks_like_a_number_stays_text() -> None:
    run("checkpoint_save", "summary=42", "project_path=/w/shop")

    assert json.loads(run("checkpoint_list"))["checkpoints"][0]["summary"] == "42"


@pytest.mark.parametrize("tags", ["tags=a,b", 'tags=["a","b"]'])
def test_a_list_is_json_or_separated_by_commas(tags: str) -> None:
    run("checkpoint_save", "summary=done", "project_path=/w/shop", tags)

    assert json.loads(run("checkpoint_list"))["checkpoints"][0]["tags"] == ["a", "b"]


def test_an_error_is_told_as_json_and_fails_the_command() -> None:
    with pytest.raises(CommandError) as failed:
        run("checkpoint_get", "id=7")

    error: dict[str, Any] = json.loads(str(failed.value))
    assert error["category"] == "not_found"


def test_a_word_without_equals_sign_is_refused() -> None:
    with pytest.raises(CommandError, match="'loud' is not key=value"):
        run("checkpoint_list", "loud")


def test_an_unknown_operation_is_refused() -> None:
    with pytest.raises(CommandError, match=r"no operation named 'nope'; available: .*status"):
        run("nope")


def test_without_a_name_it_lists_all_with_their_arguments() -> None:
    listed = run()

    assert "checkpoint_save: Save the state of this session" in listed
    assert "    summary (required): " in listed


def test_help_lists_the_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("call", "--help")

    assert "checkpoint_search:" in capsys.readouterr().out


def test_help_with_a_name_lists_the_arguments_of_that_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["manage.py", "call", "checkpoint_search", "--help"]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit):
        execute_from_command_line(words)

    printed = capsys.readouterr().out
    assert "    query (required): " in printed
    assert "checkpoint_save" not in printed


def test_contracts_are_json() -> None:
    contracts = json.loads(run("--contracts"))

    assert contracts["checkpoint_save"]["effect"] == "write"
