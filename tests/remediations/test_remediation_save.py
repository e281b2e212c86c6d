import dataclasses
from typing import Any

import pytest

from contextd import pipeline
from contextd.callers import Caller, Entry
from contextd.errors import Invalid, NotAllowed
from contextd.models import Project
from remediations.models import Remediation
from tests.conftest import Call
from tests.remediations.conftest import Save
from tests.search.conftest import no_backend, use_server

__all__ = ["no_backend", "use_server"]

BOOM = {"error_message": "boom", "error_type": "Boom", "solution": "restart"}


def test_saving_keeps_everything_given(call: Call) -> None:
    saved = call(
        "remediation_save",
        error_message="dial tcp 127.0.0.1:8080: connect: connection refused",
        error_type="ConnectionError",
        solution="Start the server: ./server",
        project_path="/w/shop",
        context={"go": 1.22},
        tags=["network", "server", "network"],
        severity="medium",
        stack_trace="goroutine 1 [running]:\nmain.main()\n\t/w/shop/main.go:12 +0x1d",
    )

    kept = Remediation.objects.get()
    assert saved.id == str(kept.pk)
    assert saved.error_message == kept.error_message
    assert (saved.error_type, saved.solution) == (kept.error_type, kept.solution)
    assert (saved.seen_count, saved.notice, saved.created_at) == (1, None, kept.created_at)
    assert kept.error_message == "dial tcp 127.0.0.1:8080: connect: connection refused"
    assert (kept.error_type, kept.solution) == ("ConnectionError", "Start the server: ./server")
    assert kept.project == Project.objects.get(paths__path="/w/shop")
    assert (kept.context, kept.tags) == ({"go": "1.22"}, ["network", "server"])
    assert (kept.severity, kept.calls) == ("medium", ["main.main|main.go"])
    assert kept.stack_trace.startswith("goroutine 1")
    assert kept.created_by == "tester"


def test_without_a_project_it_is_shared(call: Call) -> None:
    call("remediation_save", **BOOM)

    assert Remediation.objects.get().project is None
    assert not Project.objects.exists()


def test_saving_the_same_fix_again_strengthens_it(call: Call) -> None:
    first = call("remediation_save", **BOOM)

    again = call("remediation_save", **BOOM)

    kept = Remediation.objects.get()
    assert again.id == first.id
    assert (again.seen_count, kept.seen_count) == (2, 2)
    assert "seen 2 times" in again.notice
    assert kept.last_seen_at > kept.created_at


def test_what_varies_between_runs_does_not_make_it_another_error(call: Call) -> None:
    fix = {"error_type": "OSError", "solution": "free  the port\n"}
    call("remediation_save", error_message="pid 812: port 8080 is in use at 0x7f3a", **fix)

    fix["solution"] = "free the port"
    call("remediation_save", error_message="pid 97: port 9091 is in use at 0x11bc", **fix)

    assert Remediation.objects.get().seen_count == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"error_type": "java.lang.NullPointerException"}, {"error_type": "NullPointerException"}),
        ({"error_type": "Whatever"}, {"error_message": "ValueError: bad cart."}),
        ({"solution": "Raise request.timeout.ms"}, {"solution": "raise request.timeout.ms."}),
        ({"error_message": "dial 127.0.0.1:80 failed"}, {"error_message": "dial [::1]:80 failed"}),
        ({"error_message": "\u2502 Error: no plan"}, {"error_message": "Error: no plan"}),
        ({"error_message": "rm: x \u2018y\u2019"}, {"error_message": "rm: x 'y'"}),
    ],
)
def test_another_spelling_is_the_same_error_or_fix(
    call: Call, one: dict[str, str], other: dict[str, str]
) -> None:
    fix = {"error_message": "ValueError: bad cart", "error_type": "ValueError", "solution": "Wait"}
    if "error_type" in other:
        fix["error_message"] = "the cart is bad"
    call("remediation_save", **(fix | one))
    call("remediation_save", **(fix | other))

    assert Remediation.objects.get().seen_count == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git branch -d old", "git branch -D old"),
        ("docker build -t app .", "docker build -t app"),
        ("go test ./...", "go test ./.."),
        ("Set the value to True", "Set the value to true"),
        ("Rename Foo to foo", "Rename foo to Foo"),
        ("if x:\n    a()\nb()", "if x:\n    a()\n    b()"),
        ("export PORT=80\nrun", "export PORT=80 run"),
    ],
)
def test_fixes_that_do_something_else_are_kept_apart(call: Call, one: str, other: str) -> None:
    call("remediation_save", **{**BOOM, "solution": one})
    call("remediation_save", **{**BOOM, "solution": other})

    assert Remediation.objects.count() == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("restart", "  Restart. \n"),
        ("Run `make`.", "run  `make`"),
        ("if x:\n\ta()", "\n  if x:\r\n\r\n          a() "),
    ],
)
def test_a_fix_with_another_spacing_is_the_same(call: Call, one: str, other: str) -> None:
    call("remediation_save", **{**BOOM, "solution": one})
    call("remediation_save", **{**BOOM, "solution": other})

    assert Remediation.objects.get().seen_count == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Back-off:\n  Exit Code:    1", "Back-off:\n  Exit Code:    137"),
        ("errorCode: 13", "errorCode: 26"),
        ("requests.HTTPError 404", "requests.HTTPError 500"),
        ("Unsupported class file major version 61", "Unsupported class file major version 65"),
    ],
)
def test_errors_with_different_codes_are_kept_apart(call: Call, one: str, other: str) -> None:
    call("remediation_save", **{**BOOM, "error_message": one})
    call("remediation_save", **{**BOOM, "error_message": other})

    assert Remediation.objects.count() == 2


def test_errors_that_end_alike_are_kept_apart(call: Call) -> None:
    fix = {"error_type": "Error", "solution": "restart"}
    call("remediation_save", error_message="the port is taken\nexit status 1", **fix)
    call("remediation_save", error_message="no route to the host\nexit status 1", **fix)

    assert [kept.seen_count for kept in Remediation.objects.all()] == [1, 1]


def test_another_fix_of_the_same_error_stands_beside_it(call: Call) -> None:
    call("remediation_save", **BOOM)

    another = call("remediation_save", **{**BOOM, "solution": "raise the limit"})

    assert (another.seen_count, another.notice) == (1, None)
    assert Remediation.objects.count() == 2


def test_a_project_keeps_its_own_beside_the_shared_one(call: Call) -> None:
    call("remediation_save", **BOOM)
    call("remediation_save", **BOOM, project_path="/w/shop")
    call("remediation_save", **BOOM, project_path="/w/shop/src")

    assert [r.seen_count for r in Remediation.objects.order_by("pk")] == [1, 2]


def test_git_remote_in_the_context_names_the_project(call: Call) -> None:
    remote = {"git_remote": "git@example.com:acme/shop.git"}
    call("remediation_save", **BOOM, project_path="/home/a/shop", context=remote)

    assert Project.objects.get().git_remote == "example.com/acme/shop"


def test_credentials_are_replaced_before_anything_is_stored_and_counted(call: Call) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

    saved = call(
        "remediation_save",
        error_message=f"push with {secret} was refused",
        error_type="fatal",
        solution="use postgresql://app:s3cretpass@db/shop",
        stack_trace=f"at push({secret})",
        context={"password": "correct horse"},
    )

    kept = Remediation.objects.get()
    stored = f"{kept.error_message} {kept.solution} {kept.stack_trace} {kept.context} {kept.calls}"
    assert saved.redacted == 4
    assert not any(word in stored for word in (secret, "s3cretpass", "horse"))
    found = call("remediation_search", error_message=secret, min_score=0).results
    assert secret not in str(found)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"error_message": " "}, "error_message"),
        ({"error_message": "x" * 10_001}, "error_message"),
        ({"error_type": ""}, "error_type"),
        ({"error_type": "x" * 201}, "error_type"),
        ({"solution": ""}, "solution"),
        ({"solution": "x" * 20_001}, "solution"),
        ({"stack_trace": "x" * 50_001}, "stack_trace"),
        ({"severity": "fatal"}, "severity"),
        ({"project_path": "shop"}, "project_path"),
        ({"project_path": "/w/../shop"}, "project_path"),
        ({"tags": ["t"] * 21}, "tags"),
        ({"tags": ["t" * 51]}, "tags.0"),
        ({"context": {"k": "v" * 1001}}, "context"),
        ({"eror": "x"}, "eror"),
    ],
)
def test_what_breaks_a_rule_is_refused_and_nothing_is_kept(
    call: Call, wrong: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        call("remediation_save", **{**BOOM, **wrong})

    assert refused.value.details["field"] == field
    assert not Remediation.objects.exists()
    assert not Project.objects.exists()


@pytest.mark.parametrize("missing", ["error_message", "error_type", "solution"])
def test_what_is_required_is_said_when_it_is_missing(call: Call, missing: str) -> None:
    given = {name: value for name, value in BOOM.items() if name != missing}

    with pytest.raises(Invalid, match=f"{missing} is required"):
        call("remediation_save", **given)


def test_the_longest_that_is_allowed_is_kept_whole(call: Call) -> None:
    call(
        "remediation_save",
        error_message="m" * 10_000,
        error_type="t" * 200,
        solution="s " * 10_000,
        stack_trace="  at f (x.js:1:1)\n" * 2_700,
    )

    kept = Remediation.objects.get()
    assert (len(kept.error_message), len(kept.error_type)) == (10_000, 200)
    assert (len(kept.solution), len(kept.stack_trace)) == (20_000, 48_600)


def test_a_caller_cannot_save_into_a_project_it_does_not_see(
    call: Call, save: Save, caller: Caller
) -> None:
    save("theirs", project_path="/w/shop")
    stranger = dataclasses.replace(caller, entry=Entry(projects=frozenset()))

    with pytest.raises(NotAllowed):
        pipeline.call("remediation_save", {**BOOM, "project_path": "/w/shop"}, stranger)
    assert Remediation.objects.count() == 1


def test_without_embeddings_it_is_kept_found_by_its_words_and_that_is_said(
    no_backend: None, call: Call
) -> None:
    saved = call("remediation_save", **BOOM)

    found = call("remediation_search", error_message="boom")
    assert "by its words now" in saved.notice
    assert [match.id for match in found.results] == [saved.id]
    assert found.results[0].semantic_score == 0.5
    assert "by words alone" in found.notice
