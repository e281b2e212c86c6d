import dataclasses
from datetime import UTC, datetime

import pytest

from checkpoints.models import Checkpoint
from contextd import pipeline
from contextd.callers import Caller, Entry
from contextd.errors import Invalid, NotAllowed
from contextd.models import Project
from tests.conftest import Call

PATH = "/w/shop"


def test_saving_keeps_everything_given(call: Call) -> None:
    saved = call(
        "checkpoint_save",
        summary="Login works",
        description="JWT with refresh tokens",
        project_path=PATH,
        context={"branch": "main", "open": 3, "files": ["a.py"]},
        tags=["auth", "backend"],
    )

    checkpoint = Checkpoint.objects.get()
    assert saved.id == str(checkpoint.pk)
    assert saved.summary == checkpoint.summary == "Login works"
    assert checkpoint.description == "JWT with refresh tokens"
    assert checkpoint.project_path == PATH
    assert checkpoint.context == {"branch": "main", "open": "3", "files": '["a.py"]'}
    assert checkpoint.tags == ["auth", "backend"]
    assert checkpoint.created_by == "tester"
    assert (datetime.now(UTC) - saved.created_at).total_seconds() < 60
    assert saved.notice is None


def test_tokens_are_counted_as_all_minilm_does(call: Call) -> None:
    saved = call("checkpoint_save", summary="tokenization", project_path=PATH)

    assert saved.token_count == len(["token", "##ization"])


def test_a_credential_is_replaced_before_it_is_stored_and_counted(call: Call) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

    saved = call(
        "checkpoint_save",
        summary=f"Deployed with {secret}",
        project_path=PATH,
        context={"password": "correct horse"},
    )

    checkpoint = Checkpoint.objects.get()
    assert saved.redacted == 2
    assert secret not in checkpoint.summary
    assert "[REDACTED:" in checkpoint.summary
    assert "horse" not in str(checkpoint.context)


def test_the_same_tag_is_kept_once(call: Call) -> None:
    call("checkpoint_save", summary="x", project_path=PATH, tags=["a", "b", "a"])

    assert Checkpoint.objects.get().tags == ["a", "b"]


def test_git_remote_in_the_context_names_the_project(call: Call) -> None:
    for path in ("/home/a/shop", "/Users/b/shop"):
        call(
            "checkpoint_save",
            summary="x",
            project_path=path,
            context={"git_remote": "git@example.com:acme/shop.git"},
        )

    assert Project.objects.get().git_remote == "example.com/acme/shop"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"summary": ""}, "summary"),
        ({"summary": "x" * 501}, "summary"),
        ({"description": "x" * 5001}, "description"),
        ({"project_path": "shop"}, "project_path"),
        ({"project_path": "/"}, "project_path"),
        ({"tags": ["t"] * 21}, "tags"),
        ({"context": {"k": "v" * 1001}}, "context"),
        ({"titel": "x"}, "titel"),
    ],
)
def test_what_breaks_a_rule_is_refused_and_nothing_is_kept(
    call: Call, wrong: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        call("checkpoint_save", **{"summary": "x", "project_path": PATH, **wrong})

    assert refused.value.details["field"] == field
    assert not Checkpoint.objects.exists()
    assert not Project.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_caller_cannot_save_into_a_project_it_does_not_see(call: Call, caller: Caller) -> None:
    call("checkpoint_save", summary="theirs", project_path=PATH)
    stranger = dataclasses.replace(caller, entry=Entry(projects=frozenset()))

    with pytest.raises(NotAllowed):
        pipeline.call("checkpoint_save", {"summary": "x", "project_path": PATH}, stranger)
    assert Checkpoint.objects.get().summary == "theirs"
