"""A server that speaks OpenAI's embeddings protocol, well or badly, as a test asks."""

import hashlib
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.http_server import QuietHandler, serving

SYNONYMS = {"automobile": "car", "motor": "engine", "purchase": "buy", "feline": "cat"}

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class EmbeddingServer:
    """Texts with the same words, or with synonyms, have the same vector."""

    dimensions: int = 32
    requests: list[dict[str, Any]] = field(default_factory=list)
    next_answers: deque[Callable[[dict[str, Any]], Answer]] = field(default_factory=deque)
    released: threading.Event = field(default_factory=threading.Event)
    base_url: str = ""
    is_slow: bool = False

    @property
    def texts(self) -> list[str]:
        """All that was embedded, in order."""
        return [text for request in self.requests for text in request["body"]["input"]]

    def answer(self, request: dict[str, Any]) -> Answer:
        self.requests.append(request)
        if self.next_answers:
            return self.next_answers.popleft()(request)
        return self.embeddings(request)

    def embeddings(self, request: dict[str, Any]) -> Answer:
        """As the protocol allows, in any order."""
        items = [
            {"object": "embedding", "index": index, "embedding": self.vector(text)}
            for index, text in enumerate(request["body"]["input"])
        ]
        body = {"object": "list", "model": request["body"]["model"], "data": items[::-1]}
        return 200, {}, json.dumps(body).encode()

    def vector(self, text: str) -> list[float]:
        numbers = [0.01] * self.dimensions
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.blake2b(SYNONYMS.get(word, word).encode()).digest()
            for place in range(4):
                numbers[digest[place] % self.dimensions] += 1 if digest[place + 4] % 2 else -1
        return numbers

    def never(self, request: dict[str, Any]) -> Answer:
        """No answer before the test is over."""
        self.released.wait(30)
        return 500, {}, b""

    def dripping(self, request: dict[str, Any]) -> Answer:
        """A right answer that comes byte by byte, too slowly to wait for."""
        self.is_slow = True
        return self.embeddings(request)


def failing(status: int, **headers: str) -> Callable[[dict[str, Any]], Answer]:
    return lambda request: (status, headers, b"{}")


def saying(body: Any) -> Callable[[dict[str, Any]], Answer]:
    return lambda request: (200, {}, body if isinstance(body, bytes) else json.dumps(body).encode())


@contextmanager
def running(server: EmbeddingServer) -> Iterator[EmbeddingServer]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = {"path": self.path, "headers": dict(self.headers), "body": body}
            status, headers, content = server.answer(request)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if server.is_slow:
                self.drip(content)
            else:
                self.wfile.write(content)

        def drip(self, content: bytes) -> None:
            with suppress(ConnectionError):
                for number in content:
                    self.wfile.write(bytes([number]))
                    server.released.wait(0.02)

    with serving(Handler) as address:
        server.base_url = f"{address}/v1"
        try:
            yield server
        finally:
            server.released.set()
