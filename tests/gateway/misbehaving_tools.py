"""The tools of the misbehaving server, what it lists, and how it writes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

OBJECT = {"type": "object"}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}

tools: dict[str, dict[str, Any]] = {
    name: {"name": name, "description": f"To {name}", "inputSchema": OBJECT}
    for name in (
        "echo", "fail", "refuse", "crash", "hang", "wedge", "flood", "chatter", "poison",
        "vanish", "environment", "pid", "spawn", "progress", "cancelled", "grow", "picture",
        "link", "ask_person", "ask_model", "headers", "mumble", "held", "compressed", "status",
        "deep", "digits", "bytes", "late_id", "nameless", "another", "stubborn", "wait", "busy",
        "sequence", "forget", "linger", "large", "large_last", "sheet", "ask_badly",
    )
}  # fmt: skip
tools["add"] = {"name": "add", "inputSchema": OBJECT, "outputSchema": SUM}
tools["lie"] = {"name": "lie", "inputSchema": OBJECT, "outputSchema": SUM}
UNUSABLE = {"type": "object", "properties": {"sum": {"type": "sum"}}}
tools["unusable"] = {"name": "unusable", "inputSchema": OBJECT, "outputSchema": UNUSABLE}
listed: list[Any] = [*tools.values(), {"name": "broken", "inputSchema": "none"}, 7]
prompts: list[Any] = [
    {
        "name": "greet",
        "description": "Greet somebody",
        "arguments": [{"name": "who", "description": "Whom", "required": True}],
    },
    {"name": "bad", "arguments": "many"},
]
resources: list[Any] = [
    {"uri": "demo://notes/1", "name": "first", "description": "A note", "mimeType": "text/plain"},
    {"uri": "no address"},
]
templates: list[Any] = [{"uriTemplate": "demo://notes/{number}", "name": "note"}]
cancelled: list[Any] = []
is_modern, is_http = "--modern" in sys.argv, "--http" in sys.argv
is_wedged = threading.Event()
has_forgotten = threading.Event()
statuses: list[int] = []
answered = threading.local()


def send(message: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", **message}
    if is_http:
        answered.message = message
        return
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(words: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(words)}]}


def structured(value: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**text(json.dumps(value)), "structuredContent": value, **more}


def echo(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return text(json.dumps(arguments))


def add(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured({"sum": arguments["a"] + arguments["b"]})


def lie(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured({"sum": "many"})


def unusable(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured({"sum": 3})


def picture(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}


def fail(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured(arguments["structured"], isError=True)


def crash(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    sys.stderr.write("the disk is on fire\n")
    sys.stderr.flush()
    os._exit(3)


def wedge(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    is_wedged.set()
    time.sleep(1000)
    return {}


def wait(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    signal.sigwait({signal.SIGUSR1})
    return text("waited")


def sequence(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {**text("one and two"), "structuredContent": [1, 2]}


def mumble(arguments: dict[str, Any], meta: dict[str, Any]) -> Any:
    return "no object"


def held(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {**text("kept"), "held": "one", "questions": {}}


def compressed(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    answered.encoding = "gzip"
    return text("small, and large when it is unpacked")


def status(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """From now on, that is its only answer."""
    statuses.append(arguments["code"])
    return {}


def forget(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """From now on, the session is not known."""
    has_forgotten.set()
    return text("forgotten")


def flood(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    if is_http:
        return text("A" * 6_400_000)
    for _ in range(64):
        sys.stdout.write("A" * 100_000)
    sys.stdout.flush()
    return text("flooded")


def chatter(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    sys.stdout.write("Server is listening!\n\n[1, 2\n")
    return text("said")


def sheet(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return text(LARGE)


def write_answer(value: str, request_id: Any) -> None:
    """An answer that no JSON parser takes, which `json.dumps` would not write."""
    quoted = json.dumps(request_id)
    write(f'{{"jsonrpc":"2.0","id":{quoted},"result":{{"structuredContent":{{"a":{value}}}}}}}')


def write(line: str) -> None:
    if is_http:
        answered.message = line
        return
    sys.stdout.buffer.write(line.encode("latin-1") + b"\n")
    sys.stdout.flush()


LARGE = "A" * 5_000_000
BROKEN: dict[str, Callable[[Any], None]] = {
    "deep": lambda request_id: write_answer("[" * 3000 + "]" * 3000, request_id),
    "digits": lambda request_id: write_answer("9" * 5000, request_id),
    "bytes": lambda request_id: write_answer('"\xff"', request_id),
    "late_id": lambda request_id: write(
        f'{{"result":{{"id":7,"a":"\\ud800"}},"jsonrpc":"2.0","id":{json.dumps(request_id)}}}'
    ),
    "large": lambda request_id: write_answer(f'"{LARGE}"', request_id),
    "large_last": lambda request_id: write(
        f'{{"result":{{"id":7,"a":"{LARGE}"}},"jsonrpc":"2.0","id":{json.dumps(request_id)}}}'
    ),
    "nameless": lambda request_id: write('{"jsonrpc":"2.0","result":{}}'),
    "another": lambda request_id: write('{"jsonrpc":"2.0","id":9999,"result":{}}'),
}


def stubborn(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """Close the standard output and take long to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.close(1)
    time.sleep(1000)
    return {}


def poison(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    tools["echo"]["description"] = arguments["description"]
    send({"method": "notifications/tools/list_changed"})
    return text("poisoned")


def vanish(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    listed.clear()
    return text("vanished")


def ask_badly(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {"resultType": "input_required", "inputRequests": arguments["questions"]}


def grow(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    kind = arguments.get("kind", "tools")
    if kind == "tools":
        listed.append({"name": arguments["tool"], "inputSchema": OBJECT})
    if kind == "prompts":
        prompts.append({"name": arguments["tool"]})
    if kind == "resources":
        resources.append({"uri": f"demo://{arguments['tool']}", "name": "new"})
    if not arguments.get("is_silent"):
        send({"method": f"notifications/{kind}/list_changed"})
    return text("grown")


def environment(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured(dict(os.environ))


def pid(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return text(os.getpid())


def linger(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """Go on after the end of the input."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=time.sleep, args=[1000]).start()
    return text(os.getpid())


def spawn(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)  # noqa: S607
    return text(child.pid)


def progress(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    for done in (1, 2):
        told = {"progressToken": meta["progressToken"], "progress": done, "total": 2}
        send({"method": "notifications/progress", "params": told})
    return text("done")


def busy(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """Read nothing, and so answer no ping, while progress is reported."""
    for done in range(25):
        told = {"progressToken": meta["progressToken"], "progress": done}
        send({"method": "notifications/progress", "params": told})
        time.sleep(0.1)
    return text("done")


def link(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "resource_link", "uri": "demo://notes/7", "name": "seventh"}]}


def headers(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured({name.lower(): value for name, value in answered.headers.items()})
