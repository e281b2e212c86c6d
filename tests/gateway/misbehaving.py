"""An MCP server that does wrong when it is told to; it knows nothing but the standard library.

With `--modern` it speaks 2026-07-28, and ends each subscription at once; with `--http` it does so
over HTTP, where it announces no changes although it says that it does (at a free port, or that of
`--port=NUMBER`); with `--without-tools` it has none, with `--only-tools` nothing else.
"""

import gzip
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.gateway import misbehaving_tools as tools
else:  # as a program, it finds only what stands beside it
    import misbehaving_tools as tools

has_tools = "--without-tools" not in sys.argv
SESSION = str(os.getpid())

PERSON = {
    "message": "Who are you?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
MODEL = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say yes"}}],
    "maxTokens": 5,
}
QUESTIONS = {
    "ask_person": {"method": "elicitation/create", "params": {"mode": "form", **PERSON}},
    "ask_model": {"method": "sampling/createMessage", "params": MODEL},
}


def ask(request: Any) -> None:
    """In the way of its version: by a request of its own, or by a result that is none yet."""
    params = request["params"]
    question = QUESTIONS[params["name"]]
    if tools.is_modern and "inputResponses" not in params:
        rounds = {"inputRequests": {"it": question}, "requestState": "kept"}
        tools.send({"id": request["id"], "result": {"resultType": "input_required", **rounds}})
        return
    if tools.is_modern:
        replied = {**params["inputResponses"]["it"], "state": params["requestState"]}
    else:
        tools.send({"id": "question", **question})
        message = next_message()
        while message.get("id") != "question":
            answer(message)
            message = next_message()
        replied = message.get("result") or message["error"]
    tools.send({"id": request["id"], "result": tools.structured(replied)})


def next_message() -> Any:
    return json.loads(sys.stdin.readline())


def call(request: Any) -> None:
    name = request["params"]["name"]
    if name == "hang":
        return
    if name in QUESTIONS:
        ask(request)
        return
    if name in tools.BROKEN:
        tools.BROKEN[name](request["id"])
        return
    if name == "refuse":
        given = request["params"]["arguments"]
        error = {"code": -32602, "message": "no such thing", **given}
        tools.send({"id": request["id"], "error": error})
        return
    if name == "cancelled":
        tools.send({"id": request["id"], "result": tools.text(len(tools.cancelled))})
        return
    arguments, meta = request["params"]["arguments"], request["params"].get("_meta", {})
    tools.send({"id": request["id"], "result": getattr(tools, name)(arguments, meta)})


def about() -> dict[str, Any]:
    changing = {"listChanged": True}
    capabilities = {"tools": changing, "prompts": changing, "resources": changing}
    if "--only-tools" in sys.argv:
        capabilities = {"tools": changing}
    if not has_tools:
        del capabilities["tools"], ANSWERS["tools/list"]
    return {
        "capabilities": capabilities,
        "serverInfo": {"name": "misbehaving", "version": "1"},
    }


def read(request: Any) -> None:
    uri = request["params"]["uri"]
    if not uri.startswith("demo://"):
        tools.send({"id": request["id"], "error": {"code": -32002, "message": "nothing there"}})
        return
    contents = [{"uri": uri, "mimeType": "text/plain", "text": f"what is at {uri}"}]
    tools.send({"id": request["id"], "result": {"contents": contents}})


def handshake(request: Any) -> dict[str, Any]:
    return {**about(), "protocolVersion": "2025-11-25"}


def discovered(request: Any) -> dict[str, Any]:
    kept = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
    return {**about(), **kept, "supportedVersions": ["2026-07-28"]}


def greeting(request: Any) -> dict[str, Any]:
    greeted = f"Say hello to {request['params']['arguments']['who']}"
    said = {"role": "user", "content": {"type": "text", "text": greeted}}
    return {"description": "A greeting", "messages": [said]}


ANSWERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "initialize": handshake,
    "tools/list": lambda request: {"tools": tools.listed},
    "prompts/list": lambda request: {"prompts": tools.prompts},
    "prompts/get": greeting,
    "resources/list": lambda request: {"resources": tools.resources},
    "resources/templates/list": lambda request: {"resourceTemplates": tools.templates},
    "ping": lambda request: {},
}
if tools.is_modern:
    ANSWERS["server/discover"] = discovered
    ANSWERS["subscriptions/listen"] = lambda request: {"resultType": "complete"}
OTHERS: dict[str, Callable[[Any], None]] = {
    "tools/call": call,
    "resources/read": read,
    "notifications/cancelled": lambda request: tools.cancelled.append(request["params"]),
}


def answer(request: Any) -> None:
    method = request.get("method")
    if method in OTHERS:
        OTHERS[method](request)
    elif method in ANSWERS:
        tools.send({"id": request["id"], "result": ANSWERS[method](request)})
    elif "id" in request:
        tools.send({"id": request["id"], "error": {"code": -32601, "message": "unknown"}})


class Web(BaseHTTPRequestHandler):
    """Streamable HTTP without streams: each answer is one JSON document."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.stay_away_if_wedged()
        if request["method"] == "initialize":
            tools.has_forgotten.clear()
        is_unknown = self.headers.get("Mcp-Session-Id", SESSION) != SESSION
        if is_unknown or tools.has_forgotten.is_set():
            error = {"code": -32001, "message": "Session 3f2a not found"}
            self.reply(404, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())
            return
        answered = tools.answered
        answered.message, answered.headers, answered.encoding = None, self.headers, ""
        answer(request)
        while "id" in request and answered.message is None:
            time.sleep(1000)
        if tools.statuses:
            self.send_error(tools.statuses[-1])
            return
        message = answered.message
        if not isinstance(message, str):
            message = json.dumps(message)
        body = message.encode("latin-1") if "id" in request else b""
        if answered.encoding:
            body = gzip.compress(body)
        self.reply(200 if body else 202, body, answered.encoding)

    def reply(self, status: int, body: bytes, encoding: str = "") -> None:
        self.send_response(status)
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.send_header("Mcp-Session-Id", SESSION)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def do_DELETE(self) -> None:
        self.stay_away_if_wedged()
        self.send_error(405)

    def stay_away_if_wedged(self) -> None:
        if tools.is_wedged.is_set():
            time.sleep(1000)

    def log_message(self, *words: Any) -> None:
        """Nothing is logged."""


def serve() -> None:
    named = [word.removeprefix("--port=") for word in sys.argv if word.startswith("--port=")]
    server = ThreadingHTTPServer(("127.0.0.1", int(named[0]) if named else 0), Web)
    print(server.server_port, flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    if tools.is_http:
        serve()
    while line := sys.stdin.readline():
        answer(json.loads(line))
