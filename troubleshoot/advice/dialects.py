"""Write requests and read responses in the two protocols of language model servers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from troubleshoot.advice.schema import Advice

MAX_TOKENS = 2_000
LIMIT = "max_tokens"
ANSWER = "answer"
ANTHROPIC_VERSION = "2023-06-01"

Protocol = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A protocol: `root` adds the version to a base address, as its usual clients do.

    `text_of` finds the JSON of the answer in a response; it raises LookupError or TypeError.
    """

    root: Callable[[str], str]
    path: str
    headers: Callable[[str], dict[str, str]]
    body: Callable[[str, str, str], dict[str, Any]]
    text_of: Callable[[Any], str]


def chosen(protocol: Protocol | None, base_url: str) -> Dialect:
    """Return the dialect of the protocol; without one, that of the address."""
    host = urlsplit(base_url).hostname or ""
    is_theirs = host == "anthropic.com" or host.endswith(".anthropic.com")
    return DIALECTS[protocol or ("anthropic" if is_theirs else "openai")]


def address(base_url: str, dialect: Dialect) -> str:
    """Return the address that questions are sent to."""
    return f"{dialect.root(base_url.rstrip('/'))}/{dialect.path}"


def _openai_root(base_url: str) -> str:
    """Only a bare host lacks the version; others have `/v1`, `/v1beta/openai` or none."""
    return base_url if urlsplit(base_url).path else f"{base_url}/v1"


def _anthropic_root(base_url: str) -> str:
    return f"{base_url.removesuffix('/v1')}/v1"


def _openai_body(model: str, instructions: str, question: str) -> dict[str, Any]:
    schema = {"name": ANSWER, "strict": True, "schema": Advice.model_json_schema()}
    return {
        "model": model,
        LIMIT: MAX_TOKENS,
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": question},
        ],
        "response_format": {"type": "json_schema", "json_schema": schema},
    }


def _openai_text(response: Any) -> str:
    """Some servers put code fences around it."""
    text: str = response["choices"][0]["message"]["content"].strip()
    return text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()


def _anthropic_body(model: str, instructions: str, question: str) -> dict[str, Any]:
    tool = {
        "name": ANSWER,
        "description": "Give the answer.",
        "input_schema": Advice.model_json_schema(),
    }
    return {
        "model": model,
        LIMIT: MAX_TOKENS,
        "system": instructions,
        "messages": [{"role": "user", "content": question}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": ANSWER},
    }


def _anthropic_text(response: Any) -> str:
    used = [block for block in response["content"] if block["type"] == "tool_use"]
    return json.dumps(used[0]["input"])


DIALECTS: Mapping[Protocol, Dialect] = {
    "openai": Dialect(
        root=_openai_root,
        path="chat/completions",
        headers=lambda key: {"Authorization": f"Bearer {key}"} if key else {},
        body=_openai_body,
        text_of=_openai_text,
    ),
    "anthropic": Dialect(
        root=_anthropic_root,
        path="messages",
        headers=lambda key: {
            "anthropic-version": ANTHROPIC_VERSION,
            **({"x-api-key": key} if key else {}),
        },
        body=_anthropic_body,
        text_of=_anthropic_text,
    ),
}
