"""A server that implements OpenAI's embeddings API: TEI, Ollama, vLLM, OpenAI itself."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx2
from pydantic import BaseModel, FiniteFloat, ValidationError

from contextd.search.embedding.backends import (
    MAX_DIMENSIONS,
    EmbeddingUnavailable,
    TextRefused,
    Vector,
)

MAX_TEXTS = 64
MAX_ANSWER_BYTES = MAX_TEXTS * MAX_DIMENSIONS * 32
"""No server writes a number in more than 32 characters."""
PAUSE = 0.5
SECONDS_DOWN = 5
WORTH_RETRYING = {429, 500, 502, 503, 504}
ABOUT_THE_TEXT = {400, 413, 422}


class Item(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class Items(BaseModel):
    data: list[Item]


@dataclass(frozen=True, slots=True)
class Answer:
    """The server's response, and how long it asks us to wait before the next request."""

    status: int
    pause: float
    content: bytes


class RemoteBackend:
    """Calls `POST {base_url}/embeddings`; after a failure, it pauses for some seconds."""

    kind = "remote"

    def __init__(self, base_url: str, model: str, api_key: str) -> None:
        self.model = model
        self._address = f"{base_url.rstrip('/')}/embeddings"
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        # A short compressed answer could be a long one.
        self._client = httpx2.Client(headers={**headers, "Accept-Encoding": "identity"})
        self._failure = ""
        self._down_until = 0.0

    def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        if time.monotonic() < self._down_until:
            raise EmbeddingUnavailable(self._failure)
        give_up_at = time.monotonic() + timeout
        batches = (texts[i : i + MAX_TEXTS] for i in range(0, len(texts), MAX_TEXTS))
        try:
            vectors = [vector for batch in batches for vector in self._ask(batch, give_up_at)]
            if len({len(vector) for vector in vectors}) != 1:
                raise _unavailable("returned vectors of several sizes")
        except TextRefused:
            raise
        except EmbeddingUnavailable as error:
            self._failure = str(error)
            self._down_until = time.monotonic() + SECONDS_DOWN
            raise
        return vectors

    def _ask(self, texts: Sequence[str], give_up_at: float) -> list[Vector]:
        answer = self._post(texts, give_up_at)
        if answer.status in WORTH_RETRYING and time.monotonic() + answer.pause < give_up_at:
            time.sleep(answer.pause)
            answer = self._post(texts, give_up_at)
        if answer.status in ABOUT_THE_TEXT:
            raise TextRefused(f"the embedding server rejects it ({answer.status})")
        if answer.status != httpx2.codes.OK:
            raise _unavailable(f"answers {answer.status}")
        return _vectors(answer.content, len(texts))

    def _post(self, texts: Sequence[str], give_up_at: float) -> Answer:
        """Post the texts; read in pieces, since the client's own time-out applies to each piece."""
        request = {"model": self.model, "input": list(texts)}
        seconds = max(0.001, give_up_at - time.monotonic())
        try:
            with self._client.stream(
                "POST", self._address, json=request, timeout=seconds
            ) as response:
                content = bytearray()
                if "Content-Encoding" in response.headers:
                    raise _unavailable("compresses its answer, although it is asked not to")
                for piece in response.iter_raw():
                    content += piece
                    if len(content) > MAX_ANSWER_BYTES:
                        raise _unavailable(f"sends more than {MAX_ANSWER_BYTES} bytes at once")
                    if time.monotonic() > give_up_at:
                        raise _unavailable("answers too slowly")
        except httpx2.HTTPError as error:
            raise _unavailable(f"does not answer ({type(error).__name__})") from error
        return Answer(response.status_code, _pause(response), bytes(content))


def _vectors(content: bytes, count: int) -> list[Vector]:
    try:
        items = sorted(Items.model_validate_json(content).data, key=lambda item: item.index)
    except ValidationError as error:
        raise _unavailable("returned something other than embeddings") from error
    if [item.index for item in items] != list(range(count)):
        raise _unavailable(f"returned {len(items)} vectors for {count} texts")
    if not all(any(item.embedding) for item in items):
        raise _unavailable("returned empty vectors")
    return [_scaled(item.embedding) for item in items]


def _unavailable(what: str) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(f"the embedding server {what} (EMBEDDING_BASE_URL)")


def _pause(response: httpx2.Response) -> float:
    try:
        return max(0.0, float(response.headers.get("Retry-After", PAUSE)))
    except ValueError:  # a date, used only for longer waits than ours
        return math.inf


def _scaled(vector: Vector) -> Vector:
    length = math.hypot(*vector)
    return [number / length for number in vector]
