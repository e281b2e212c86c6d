"""Checks and fixes have the values of the caller's error, not those of the pattern's example."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Call
from tests.troubleshoot.conftest import Know, proceed
from troubleshoot import library, placeholders

REFUSED = "network-connection-refused"


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    return {record.key: record.values for record in library.read().records}


@pytest.fixture
def publish(know: Know, shipped: dict[str, Any]) -> Any:
    """Publish patterns that ship."""

    def publish(*keys: str) -> None:
        for key in keys:
            know(key, **{**shipped[key], "confused_with": []})

    return publish


def begin(call: Call, error: str, **arguments: Any) -> Any:
    return call("troubleshoot", error_message=error, mode="guided", **arguments)


@pytest.mark.parametrize(
    ("key", "error", "command"),
    [
        (REFUSED, "Error: connect ECONNREFUSED 127.0.0.1:9095", "ss -ltn | grep ':9095'"),
        (
            "docker-port-already-allocated",
            "Error response from daemon: Bind for 0.0.0.0:7070 failed: port is already allocated",
            "docker ps --filter publish=7070 --format '{{.Names}} {{.Ports}}'",
        ),
        (
            "node-module-not-found",
            "Error: Cannot find module '@acme/ledger/dist/index.js'",
            "npm ls @acme/ledger",
        ),
        (
            "npm-etarget-no-version",
            "npm error notarget No matching version found for left-fold@^9.0.0.",
            "npm view left-fold versions --json | tail -5",
        ),
        (
            "python-pip-no-matching-distribution",
            "ERROR: No matching distribution found for frobnicate==3.1\n"
            "ERROR: Could not find a version that satisfies the requirement frobnicate==3.1",
            "python -m pip index versions frobnicate",
        ),
        (
            "linux-apt-lock",
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 8123 (apt)",
            "ps -p 8123 -o pid,etime,cmd; "
            "systemctl is-active apt-daily.service apt-daily-upgrade.service",
        ),
        (
            "linux-operation-not-permitted",
            "rm: cannot remove '/srv/kept/mark.txt': Operation not permitted",
            "id -u; grep CapEff /proc/self/status; lsattr -d /srv/kept/mark.txt",
        ),
        (
            "kubernetes-service-no-endpoints",
            'no endpoints available for service "billing"',
            "kubectl get endpointslices -l kubernetes.io/service-name=billing",
        ),
        (
            "postgres-foreign-key-violation",
            'ERROR:  insert or update on table "trips" violates foreign key constraint '
            '"trips_car_fk"\nDETAIL:  Key (car_id)=(7) is not present in table "cars".',
            'psql -c "SELECT o.id FROM trips o LEFT JOIN cars u ON u.id=o.car_id '
            'WHERE u.id IS NULL LIMIT 5"',
        ),
    ],
)
def test_a_check_has_the_values_of_the_error(
    call: Call, publish: Any, key: str, error: str, command: str
) -> None:
    publish(key)

    check = begin(call, error).next_check

    assert (check.command, check.placeholders, check.conclusive) == (command, [], True)


def test_a_confirmed_check_with_the_callers_value_settles_the_cause(
    call: Call, publish: Any
) -> None:
    publish(REFUSED)
    begun = begin(call, "Error: connect ECONNREFUSED 127.0.0.1:9095")

    settled = proceed(call, begun, "as_expected")

    assert settled.is_settled


def test_without_a_value_a_check_names_what_is_missing_and_settles_nothing(
    call: Call, publish: Any
) -> None:
    publish(REFUSED)
    begun = begin(call, "java.net.ConnectException: Connection refused")

    answered = proceed(call, begun, "as_expected")

    assert (begun.next_check.command, begun.next_check.placeholders) == (
        "ss -ltn | grep ':PORT'",
        ["PORT"],
    )
    assert not begun.next_check.conclusive
    assert not answered.is_settled
    assert answered.hypotheses[0].probability - begun.hypotheses[0].probability < 0.1
    steps = begun.recommended_actions
    assert steps[0].description == "Look at this; by itself it does not prove the cause"
    assert (
        begun.hypotheses[0]
        .verification_steps[0]
        .startswith("Run `ss -ltn | grep ':PORT'`, with your value for PORT, and expect: ")
    )


def test_a_fact_that_the_caller_gives_fills_the_placeholder_of_its_name(
    call: Call, publish: Any
) -> None:
    publish(REFUSED)

    begun = begin(call, "java.net.ConnectException: Connection refused", context={"Port": "9191"})

    assert begun.next_check.command == "ss -ltn | grep ':9191'"


def test_a_value_in_the_error_wins_over_a_fact(call: Call, publish: Any) -> None:
    publish(REFUSED)

    begun = begin(call, "Error: connect ECONNREFUSED 127.0.0.1:9095", context={"port": "8080"})

    assert begun.next_check.command == "ss -ltn | grep ':9095'"


@pytest.mark.parametrize(
    ("name", "fact"), [("node", "v20.11.0"), ("version", "1.4.2"), ("database", "mysql")]
)
def test_a_fact_that_names_software_fills_nothing(name: str, fact: str) -> None:
    assert placeholders.values_for([name], facts={name: fact}, captured={}, text="") == {}


def test_of_two_values_neither_is_taken(call: Call, publish: Any) -> None:
    publish(REFUSED)

    begun = begin(call, "connect ECONNREFUSED 127.0.0.1:9095, connect ECONNREFUSED 10.0.0.3:9096")

    assert begun.next_check.placeholders == ["PORT"]


@pytest.mark.parametrize("name", ["x; rm -rf ~", "$(id)", "`id`", "a b", "-rf", "x|y"])
def test_what_a_shell_would_read_is_not_put_into_a_command(
    call: Call, publish: Any, name: str
) -> None:
    publish("node-module-not-found")

    check = begin(call, f"Error: Cannot find module '{name}'", context={"package": name}).next_check

    assert check.command == "npm ls PACKAGE"


def test_a_check_that_gives_the_same_everywhere_settles_nothing(call: Call, publish: Any) -> None:
    publish("rust-mismatched-types")
    begun = begin(call, "error[E0308]: mismatched types\nexpected `u32`, found `&str`")

    answered = proceed(call, begun, "as_expected")

    assert begun.next_check.command == "rustc --explain E0308"
    assert (begun.next_check.conclusive, answered.is_settled) == (False, False)


def test_the_commands_of_a_fix_are_filled_too(call: Call, publish: Any) -> None:
    publish("linux-address-in-use")

    begun = begin(call, "Error: listen EADDRINUSE: address already in use :::7071")
    fix = next(step for step in begun.recommended_actions if "PID" in step.placeholders)

    assert begun.next_check.command == "sudo ss -ltnp 'sport = :7071'"
    assert (fix.commands, fix.placeholders) == (["kill -TERM PID"], ["PID"])


def test_a_requirement_with_its_version_is_a_value(call: Call, publish: Any) -> None:
    publish("python-pip-hash-mismatch")

    check = begin(
        call,
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n"
        "    frobnicate==3.1 from https://files.test/frobnicate-3.1.whl:",
    ).next_check

    assert "pip download --no-deps --no-cache-dir frobnicate==3.1 " in check.command


@pytest.mark.parametrize(
    ("key", "error", "command"),
    [
        (
            "python-mypy-missing-stubs",
            'shop.py:3: error: Library stubs not installed for "docutils"  [import-untyped]\n'
            'shop.py:3: note: Hint: "python3 -m pip install types-docutils"',
            "python -m pip install types-docutils",
        ),
        (
            "redis-persistence-failed",
            "# Failed opening the temp RDB file temp-9.rdb (in server root dir /srv/cache) for "
            "saving: Permission denied",
            "sudo chown redis:redis /srv/cache",
        ),
    ],
)
def test_a_signature_fills_a_fix(
    call: Call, publish: Any, key: str, error: str, command: str
) -> None:
    publish(key)

    commands = [run for step in begin(call, error).recommended_actions for run in step.commands]

    assert command in commands


def test_a_listed_pattern_has_placeholders_in_capitals(call: Call, publish: Any) -> None:
    publish("node-module-not-found")

    listed = call("list_patterns").patterns[0]

    assert "npm install PACKAGE" in listed.solution


def test_conclusive_checks_come_before_others(call: Call, know: Know) -> None:
    checks = [
        {"run": "rustc --explain E0001", "expect": "the rule", "conclusive": False},
        {"run": "df -i", "expect": "IUse% is 100"},
    ]
    know("disk-full", confirm=checks, confused_with=[])

    begun = begin(call, "cp: error writing 'dump.sql': No space left on device")

    assert begun.next_check.command == "df -i"
    assert begun.recommended_actions[0].commands == ["df -i"]


def test_shipped_checks_that_only_explain_are_not_conclusive(shipped: dict[str, Any]) -> None:
    checks = [check for values in shipped.values() for check in values["confirm"]]

    assert not any(check["conclusive"] for check in checks if "--explain " in check["run"])


@pytest.mark.parametrize(
    "text", ["http://" + "a@" * 10_000, "a." * 10_000, "x\n\n" + "\n" * 20_000, "a-" * 10_000]
)
def test_a_long_text_is_searched_in_linear_time(text: str) -> None:
    started = time.process_time()

    placeholders.values_for(placeholders.NAMES, facts={}, captured={}, text=text)

    assert time.process_time() - started < 2


NAMES = st.sampled_from(sorted(placeholders.NAMES))


@given(NAMES, st.text(max_size=60), st.text(max_size=60))
def test_only_one_plain_word_is_ever_put_in(name: str, fact: str, text: str) -> None:
    values = placeholders.values_for([name], facts={name: fact}, captured={name: text}, text=text)

    filled = placeholders.fill(f"run {{{name}}}", values)

    assert filled == f"run {values.get(name, name.upper())}"
    assert all(placeholders.is_safe(value) for value in values.values())


@pytest.mark.parametrize(
    "text",
    ["awk '{print}'", "${port}", "%{port}", "{{port}}", "@{upstream}", "'{\"port\": 1}'"],
)
def test_braces_of_other_languages_are_left_alone(text: str) -> None:
    assert placeholders.fill(text, {"port": "1"}) == text
