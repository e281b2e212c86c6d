"""The MCP door on standard input and output: a real child process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from mcp import ClientSession, MCPError

from contextd import changes
from tests.clients import CLIENT, MODERN_VERSION, VERSIONS, over_stdio, text_of
from tests.server import ROOT, Server, environment_of_processes, measured

pytestmark = pytest.mark.anyio

COMMAND = [sys.executable, "manage.py", "mcp_stdio"]
HANDSHAKE: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": CLIENT.model_dump(exclude_none=True),
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


def call(name: str, number: int = 2) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name}}


@pytest.mark.parametrize("version", VERSIONS)
async def test_each_protocol_version_is_spoken(
    environment: Mapping[str, str], version: str
) -> None:
    async with over_stdio(environment, version) as session:
        spoken = session.protocol_version
        names = [tool.name for tool in (await session.list_tools()).tools]
        result = await session.call_tool("door_echo", {"text": "hé"})
        error = await error_of(session, "door_miss")

    assert spoken == version
    assert {"checkpoint_save", "status"} <= set(names)
    assert json.loads(text_of(result)) == {"text": "hé", "aside": None}
    assert error == "[not_found] there is no such thing"


async def error_of(session: ClientSession, name: str) -> str:
    """Return the text of the error, which is a result or a protocol error."""
    try:
        return text_of(await session.call_tool(name, {}))
    except MCPError as error:
        return error.message


async def test_over_stdio_the_caller_is_the_owner_of_the_process(
    server: Server,
) -> None:
    async with over_stdio(server.environment, MODERN_VERSION) as session:
        first = json.loads(text_of(await session.call_tool("door_whoami", {})))
        second = json.loads(text_of(await session.call_tool("door_whoami", {})))
        listed = await session.call_tool("checkpoint_list", {})

    assert not listed.is_error
    assert first["principal"] == f"local:{os.getuid()}"
    assert first["client"] == "tester/1.2"
    assert first["is_local"] is True
    assert first["is_from_this_machine"] is True
    assert first["connection"] == second["connection"]


@dataclass(frozen=True)
class Conversation:
    """The answers until the input ends, and what the process writes and returns after that."""

    answers: dict[int, Any]
    rest: bytes
    logged: bytes
    exit_code: int


@pytest.fixture(scope="module")
def conversation(django_db_setup: None) -> Conversation:
    """One process for all claims about a whole conversation, which ends during a call."""
    with started(measured(environment_of_processes())) as process:
        for message in (*HANDSHAKE, call("door_babble", 2), call("no_such", 3)):
            write(process, message)
        answers = {answer["id"]: answer for answer in (read(process) for _ in range(3))}
        write(process, call("door_linger", 4))
        rest, logged = process.communicate(timeout=40)
    return Conversation(answers, rest, logged, process.returncode)


@pytest.mark.usefixtures("transactional_db")  # removes what the process stored
def test_nothing_but_the_protocol_is_on_standard_output(conversation: Conversation) -> None:
    assert conversation.answers.keys() == {1, 2, 3}
    assert conversation.answers[2]["result"]["structuredContent"]["text"] == "done"
    for text in (b"from Python", b"from below", b"from a child"):
        assert text in conversation.logged


@pytest.mark.usefixtures("transactional_db")  # removes what the process stored
def test_a_call_that_outlasts_the_end_of_input_is_cancelled(conversation: Conversation) -> None:
    (answer,) = [json.loads(line) for line in conversation.rest.splitlines()]
    assert (answer["id"], answer["error"]["message"]) == (4, "Connection closed")
    assert conversation.exit_code == 0
    assert b"Traceback" not in conversation.logged


@pytest.mark.usefixtures("transactional_db")  # removes what the process stored
def test_what_is_logged_names_the_request(conversation: Conversation) -> None:
    lines = [json.loads(line) for line in conversation.logged.splitlines() if b"req_id" in line]
    by_request = {line["req_id"]: (line["level"], line["message"]) for line in lines}
    assert by_request["1"] == ("INFO", "initialize was answered")
    assert by_request["3"] == ("ERROR", "tools/call was refused: Unknown tool: no_such")


def test_a_change_in_another_process_is_announced(
    transactional_db: None, environment: Mapping[str, str]
) -> None:
    with started(environment) as process:
        for message in HANDSHAKE:
            write(process, message)
        read(process)
        write(process, call("door_echo"))  # which is answered after the handshake has ended
        read(process)
        changes.announce("tools")
        message = next_message(process)
        process.communicate(timeout=20)

    assert message["method"] == "notifications/tools/list_changed"


def test_the_end_of_input_is_the_end(environment: Mapping[str, str]) -> None:
    ended = subprocess.run(
        COMMAND, cwd=ROOT, env=environment, input=b"", capture_output=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout) == (0, b"")
    assert b"Traceback" not in ended.stderr


def test_a_call_that_runs_when_the_input_ends_is_still_answered(
    environment: Mapping[str, str],
) -> None:
    messages = [*HANDSHAKE, call("door_whoami", 2)]
    piped = b"".join(json.dumps(message).encode() + b"\n" for message in messages)

    ended = subprocess.run(
        COMMAND, cwd=ROOT, env=environment, input=piped, capture_output=True, timeout=60, check=True
    )

    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "result" in answers[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_process_although_its_input_is_open(
    environment: Mapping[str, str], number: signal.Signals
) -> None:
    with started(environment) as process:
        write(process, HANDSHAKE[0])
        read(process)
        process.send_signal(number)
        assert process.wait(10) == 128 + number


HEAVY = {"mcp", "onnxruntime", "onnx", "numpy", "tokenizers"}
IMPORTS = f"""
import sys, django
django.setup()
from django.core.management import call_command
from contextd import auth, search, urls
from contextd.search import finding, storing, tasks
call_command("check")
print(sorted({HEAVY} & set(sys.modules)))
"""


def test_only_processes_that_need_them_import_the_sdk_and_the_model(
    environment: Mapping[str, str],
) -> None:
    printed = subprocess.check_output([sys.executable, "-c", IMPORTS], cwd=ROOT, env=environment)

    assert printed.decode().splitlines()[-1] == "[]"


def handshake_of(version: str) -> list[dict[str, Any]]:
    begin, ready = HANDSHAKE
    return [{**begin, "params": {**begin["params"], "protocolVersion": version}}, ready]


def ping(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


def test_a_batch_is_answered_by_one_or_refused_as_a_whole(environment: Mapping[str, str]) -> None:
    pause = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "door_pause"}}
    notice = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    with started(measured(environment)) as process:
        for message in handshake_of("2025-03-26"):
            write(process, message)
        read(process)
        for batch in ([pause, notice, ping(3), 7], [notice], [8]):
            write(process, batch)
        write(process, ping(4))
        lines = [read(process) for _ in range(3)]
        refusals = [refusal_of(process, size) for size in (101, 0)]
        rest, _logged = process.communicate(timeout=20)

    (alone,) = [line for line in lines if not isinstance(line, list)]
    together = [{answer["id"] for answer in line} for line in lines if isinstance(line, list)]
    assert alone["id"] == 4
    assert sorted(together, key=len) == [{None}, {2, 3, None}]
    assert refusals == [
        (None, -32600, f"a batch has 1 to 100 messages, and this has {size}") for size in (101, 0)
    ]
    assert not any("id" in json.loads(line) for line in rest.splitlines())


def test_a_batch_is_answered_without_its_cancelled_request(environment: Mapping[str, str]) -> None:
    params = {"name": "door_pause", "arguments": {"seconds": 60}}
    pause = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    with started(environment) as process:
        for message in handshake_of("2025-03-26"):
            write(process, message)
        read(process)
        write(process, [pause, ping(3)])
        write(process, cancel)
        batch = read(process)
        write(process, ping(2))  # the id is free again
        alone = read(process)
        process.communicate(timeout=20)

    assert batch == [{"jsonrpc": "2.0", "id": 3, "result": {}}]
    assert alone == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_batch_is_refused_in_versions_without_batches(environment: Mapping[str, str]) -> None:
    with started(environment) as process:
        for message in handshake_of("2025-06-18"):
            write(process, message)
        read(process)
        refusal = refusal_of(process, 1)
        rest, _logged = process.communicate(timeout=20)

    assert refusal == (None, -32600, "this is a batch, which only 2025-03-26 supports")
    assert not any("id" in json.loads(line) for line in rest.splitlines())


def refusal_of(process: "subprocess.Popen[bytes]", size: int) -> tuple[Any, int, str]:
    """Send a batch of pings that is refused: the id, code and message of the answer."""
    write(process, [ping(number) for number in range(size)])
    refused = read(process)
    return refused["id"], refused["error"]["code"], refused["error"]["message"]


def started(environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        COMMAND, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    )


def write(process: "subprocess.Popen[bytes]", message: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def read(process: "subprocess.Popen[bytes]") -> Any:
    """Return the next answer; notifications may come from earlier tests."""
    while True:
        message = next_message(process)
        if isinstance(message, list) or "id" in message:
            return message


def next_message(process: "subprocess.Popen[bytes]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())
