"""An MCP server that does wrong when it is told to; it knows nothing but the standard library."""

import json
import os
import subprocess
import sys
import time
from typing import Any

OBJECT = {"type": "object"}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}

tools: dict[str, dict[str, Any]] = {
    name: {"name": name, "description": f"To {name}", "inputSchema": OBJECT}
    for name in (
        "echo", "fail", "refuse", "crash", "hang", "wedge", "flood", "chatter", "poison",
        "vanish", "environment", "pid", "spawn", "progress", "cancelled", "grow", "picture",
    )
}  # fmt: skip
tools["add"] = {"name": "add", "inputSchema": OBJECT, "outputSchema": SUM}
tools["lie"] = {"name": "lie", "inputSchema": OBJECT, "outputSchema": SUM}
listed: list[Any] = [*tools.values(), {"name": "broken", "inputSchema": "none"}, 7]
cancelled: list[Any] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
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


def picture(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}


def fail(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured(arguments["structured"], isError=True)


def crash(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    sys.stderr.write("the disk is on fire\n")
    sys.stderr.flush()
    os._exit(3)


def wedge(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    time.sleep(1000)
    return {}


def flood(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    for _ in range(64):
        sys.stdout.write("A" * 100_000)
    sys.stdout.flush()
    return text("flooded")


def chatter(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    sys.stdout.write("Server is listening!\n\n[1, 2\n")
    return text("said")


def poison(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    tools["echo"]["description"] = arguments["description"]
    send({"method": "notifications/tools/list_changed"})
    return text("poisoned")


def vanish(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    listed.clear()
    return text("vanished")


def grow(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    listed.append({"name": arguments["tool"], "inputSchema": OBJECT})
    send({"method": "notifications/tools/list_changed"})
    return text("grown")


def environment(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return structured(dict(os.environ))


def pid(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return text(os.getpid())


def spawn(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)  # noqa: S607
    return text(child.pid)


def progress(arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    for done in (1, 2):
        told = {"progressToken": meta["progressToken"], "progress": done, "total": 2}
        send({"method": "notifications/progress", "params": told})
    return text("done")


def call(request: Any) -> None:
    name = request["params"]["name"]
    if name == "hang":
        return
    if name == "refuse":
        error = {"code": -32602, "message": "no such thing"}
        send({"id": request["id"], "error": error})
        return
    if name == "cancelled":
        send({"id": request["id"], "result": text(len(cancelled))})
        return
    arguments, meta = request["params"]["arguments"], request["params"].get("_meta", {})
    send({"id": request["id"], "result": globals()[name](arguments, meta)})


def answer(request: Any) -> None:
    match request["method"]:
        case "initialize":
            about = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "misbehaving", "version": "1"},
            }
            send({"id": request["id"], "result": about})
        case "tools/list":
            send({"id": request["id"], "result": {"tools": listed}})
        case "tools/call":
            call(request)
        case "ping":
            send({"id": request["id"], "result": {}})
        case "notifications/cancelled":
            cancelled.append(request["params"])
        case _ if "id" in request:
            send({"id": request["id"], "error": {"code": -32601, "message": "unknown"}})


if __name__ == "__main__":
    for line in sys.stdin:
        answer(json.loads(line))
