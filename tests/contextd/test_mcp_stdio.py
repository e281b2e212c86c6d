"""The MCP door on standard input and output: a real child process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from mcp import ClientSession, MCPError

from contextd import changes
from tests.clients import CLIENT, MODERN_VERSION, VERSIONS, over_stdio, text_of
from tests.server import ROOT, Server, unmeasured

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


def call(name: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name}}


@pytest.mark.parametrize("version", VERSIONS)
async def test_each_protocol_version_is_spoken(
    environment: Mapping[str, str], version: str
) -> None:
    async with over_stdio(environment, version) as session:
        spoken = session.protocol_version
        names = [tool.name for tool in (await session.list_tools()).tools]
        result = await session.call_tool("door_echo", {"text": "hé"})
        error = await told(session, "door_miss")

    assert spoken == version
    assert {"checkpoint_save", "status"} <= set(names)
    assert json.loads(text_of(result)) == {"text": "hé", "aside": None}
    assert error == "[not_found] there is no such thing"


async def told(session: ClientSession, name: str) -> str:
    """The text of an error, in whichever shape it comes."""
    try:
        return text_of(await session.call_tool(name, {}))
    except MCPError as error:
        return error.message


async def test_the_caller_is_the_owner_of_the_process(environment: Mapping[str, str]) -> None:
    async with over_stdio(environment, MODERN_VERSION) as session:
        first = json.loads(text_of(await session.call_tool("door_whoami", {})))
        second = json.loads(text_of(await session.call_tool("door_whoami", {})))

    assert first["principal"] == f"local:{os.getuid()}"
    assert first["client"] == "tester/1.2"
    assert first["is_local"] is True
    assert first["is_from_this_machine"] is True
    assert first["session"] == first["connection"] == second["connection"]


async def test_it_works_beside_a_web_process(server: Server) -> None:
    async with over_stdio(server.environment, MODERN_VERSION) as session:
        assert not (await session.call_tool("checkpoint_list", {})).is_error


def test_nothing_but_the_protocol_is_on_standard_output(environment: Mapping[str, str]) -> None:
    with started(unmeasured(environment)) as process:
        for message in (*HANDSHAKE, call("door_babble")):
            write(process, message)
        answers = [read(process), read(process)]
        rest, logged = process.communicate(timeout=20)

    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["text"] == "done"
    assert rest == b""
    for told in (b"from Python", b"from below", b"from a child"):
        assert told in logged


def test_a_change_made_in_another_process_is_told(
    transactional_db: None, environment: Mapping[str, str]
) -> None:
    with started(environment) as process:
        for message in HANDSHAKE:
            write(process, message)
        read(process)
        write(process, call("door_echo"))  # which is answered after the handshake has ended
        read(process)
        changes.announce("tools")
        told = next_message(process)
        process.communicate(timeout=20)

    assert told["method"] == "notifications/tools/list_changed"


def test_the_end_of_input_is_the_end(environment: Mapping[str, str]) -> None:
    ended = subprocess.run(
        COMMAND, cwd=ROOT, env=environment, input=b"", capture_output=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout) == (0, b"")
    assert b"Traceback" not in ended.stderr


def test_calls_in_flight_are_answered_when_the_input_ends(environment: Mapping[str, str]) -> None:
    with started(environment) as process:
        for message in (*HANDSHAKE, call("door_linger")):
            write(process, message)
        read(process)
        output, logged = process.communicate(timeout=20)

    (answer,) = [json.loads(line) for line in output.splitlines()]
    assert (answer["id"], answer["error"]["message"]) == (2, "Connection closed")
    assert process.returncode == 0
    assert b"Traceback" not in logged


def test_what_is_logged_names_the_request(environment: Mapping[str, str]) -> None:
    with started(environment) as process:
        for message in (*HANDSHAKE, call("no_such")):
            write(process, message)
        read(process), read(process)
        _, logged = process.communicate(timeout=20)

    lines = [json.loads(line) for line in logged.splitlines() if b"req_id" in line]
    told = {line["req_id"]: (line["level"], line["message"]) for line in lines}
    assert told["1"] == ("INFO", "initialize is answered")
    assert told["2"] == ("ERROR", "tools/call is refused: Unknown tool: no_such")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_although_its_input_is_open(
    environment: Mapping[str, str], number: signal.Signals
) -> None:
    with started(unmeasured(environment)) as process:
        write(process, HANDSHAKE[0])
        read(process)
        process.send_signal(number)
        assert process.wait(10) == 128 + number


def test_without_a_database_it_says_how_to_start_one(environment: Mapping[str, str]) -> None:
    absent = {**environment, "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}

    ended = subprocess.run(
        COMMAND, cwd=ROOT, env=absent, input=b"", capture_output=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout) == (1, b"")
    (line,) = ended.stderr.decode().splitlines()
    assert "start it with `make run`" in line


def test_only_this_door_pays_for_the_import_of_the_sdk(environment: Mapping[str, str]) -> None:
    code = (
        "import sys, django; django.setup(); import contextd.urls, contextd.auth; "
        "sys.exit('mcp' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment).returncode == 0


def handshake_of(version: str) -> list[dict[str, Any]]:
    begin, ready = HANDSHAKE
    return [{**begin, "params": {**begin["params"], "protocolVersion": version}}, ready]


def ping(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


def test_a_batch_is_answered_by_one(environment: Mapping[str, str]) -> None:
    pause = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "door_pause"}}
    notice = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    with started(environment) as process:
        for message in handshake_of("2025-03-26"):
            write(process, message)
        read(process)
        for batch in ([pause, notice, ping(3), 7], [notice], [8]):
            write(process, batch)
        write(process, ping(4))
        lines = [read(process) for _ in range(3)]
        process.communicate(timeout=20)

    (alone,) = [line for line in lines if not isinstance(line, list)]
    together = [{answer["id"] for answer in line} for line in lines if isinstance(line, list)]
    assert alone["id"] == 4
    assert sorted(together, key=len) == [{None}, {2, 3, None}]


@pytest.mark.parametrize(
    ("version", "size", "why"),
    [
        ("2025-03-26", 101, "a batch has 1 to 100 messages, and this has 101"),
        ("2025-03-26", 0, "a batch has 1 to 100 messages, and this has 0"),
        ("2025-06-18", 1, "this is a batch, which only 2025-03-26 knows"),
    ],
)
def test_a_batch_that_may_not_come_is_refused_as_a_whole(
    environment: Mapping[str, str], version: str, size: int, why: str
) -> None:
    with started(unmeasured(environment)) as process:
        for message in handshake_of(version):
            write(process, message)
        read(process)
        write(process, [ping(number) for number in range(size)])
        refused = read(process)
        rest, _logged = process.communicate(timeout=20)

    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert refused["error"]["message"] == why
    assert not any("id" in json.loads(line) for line in rest.splitlines())


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
    """The next answer; what else is told may come from tests that ran before."""
    while True:
        message = next_message(process)
        if isinstance(message, list) or "id" in message:
            return message


def next_message(process: "subprocess.Popen[bytes]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())
