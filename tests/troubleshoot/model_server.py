"""A server that speaks the protocols of language models, well or badly, as a test asks."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.http_server import QuietHandler, serving

Answer = tuple[int, bytes]


def suggestion(**changes: Any) -> dict[str, Any]:
    return {
        "known_id": None,
        "description": "The flux is inverted",
        "root_cause": "Somebody mounted the turbine the wrong way round.",
        "likelihood": "high",
        "reasons": ["it says so"],
        "checks": [{"run": "flux --show", "expect": "negative"}],
        "fixes": [
            {"description": "Wipe it", "command": "rm -rf /flux"},
            {"description": "Turn it round", "command": "flux --turn"},
        ],
        **changes,
    }


@dataclass
class ModelServer:
    """Answers with these suggestions, unless `answer` is another one."""

    suggestions: list[dict[str, Any]] = field(default_factory=lambda: [suggestion()])
    answer: Callable[["ModelServer", str], Answer] | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    base_url: str = ""

    def answered(self, path: str) -> Answer:
        if self.answer:
            return self.answer(self, path)
        return 200, self.envelope(path, {"suggestions": self.suggestions})

    def envelope(self, path: str, said: Any) -> bytes:
        """As the protocol that lives at that path wraps it."""
        if path.endswith("/messages"):
            blocks = [{"type": "text", "text": "So:"}, {"type": "tool_use", "input": said}]
            return json.dumps({"content": blocks}).encode()
        fenced = f"```json\n{json.dumps(said)}\n```"
        return json.dumps({"choices": [{"message": {"content": fenced}}]}).encode()


def never(server: ModelServer, path: str) -> Answer:
    """No answer before the test is over."""
    server.released.wait(30)
    return 500, b""


def raw(body: bytes, status: int = 200) -> Callable[[ModelServer, str], Answer]:
    return lambda server, path: (status, body)


def saying(said: Any) -> Callable[[ModelServer, str], Answer]:
    return lambda server, path: (200, server.envelope(path, said))


@contextmanager
def running(server: ModelServer) -> Iterator[ModelServer]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append({"path": self.path, "headers": headers, "body": body})
            status, content = server.answered(self.path)
            with suppress(ConnectionError):
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

    with serving(Handler) as address:
        server.base_url = address
        try:
            yield server
        finally:
            server.released.set()
