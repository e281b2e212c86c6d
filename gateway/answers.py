"""Convert what an upstream answered into results for callers."""

import json
import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

import yaml

from contextd import logs, redaction
from contextd.errors import UpstreamFailed
from contextd.operations import RelayedToolResult
from contextd.prompts import RelayedPrompt
from contextd.resources import RelayedContents
from gateway import names
from gateway.offering import Offer

MAX_RAW_CHARACTERS = 2000
LARGE_CHARACTERS, MIN_PART_CHARACTERS = 16 * 1024, 4
"""Approximate characters: YAML above the first is made in a thread; each part counts the second."""
MAX_YAML_CHARACTERS = 256 * 1024
LOGGED_MESSAGE_CHARACTERS = MAX_RAW_CHARACTERS
LOGGED_CHARACTERS = logs.MAX_MESSAGE_LENGTH - LOGGED_MESSAGE_CHARACTERS - 100
"""Characters of an answer in one record, so that the log does not shorten it."""
_CODES = ("code", "errorCode", "statusCode")
_RETRIABLE = ("retriable", "retryable")
_ESCAPED = "\\U000"
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

logger = logging.getLogger(__name__)


def is_large(structured: Any) -> bool:
    """Return whether its YAML takes long enough to be made in a thread."""
    left, parts = LARGE_CHARACTERS, [structured]
    while parts and left > 0:
        part = parts.pop()
        left -= len(part) if isinstance(part, str) else MIN_PART_CHARACTERS
        if not isinstance(part, dict | list):
            continue
        if len(part) * MIN_PART_CHARACTERS > left:
            return True
        parts += [*part, *part.values()] if isinstance(part, dict) else part
    return left <= 0


def success(offer: Offer, result: dict[str, Any]) -> RelayedToolResult:
    """Keep the content as it came; add structured content as YAML text unless it is huge."""
    structured = result.get("structuredContent")
    blocks = [block for block in result.get("content") or [] if isinstance(block, dict)]
    content = [addressed(offer.namespace, block) for block in blocks]
    if structured is not None and not offer.gives_plain_json:
        others = [block for block in content if block.get("type") != "text"]
        content = [{"type": "text", "text": as_text(structured)}, *others]
    return RelayedToolResult(content=content, structured=structured, meta=result.get("_meta"))


def prompt(offer: Offer, result: dict[str, Any]) -> RelayedPrompt:
    messages = [
        {**message, "content": addressed(offer.namespace, message["content"])}
        for message in result["messages"]
    ]
    return RelayedPrompt(messages=messages, description=result.get("description"))


def contents(offer: Offer, result: dict[str, Any]) -> RelayedContents:
    return RelayedContents(
        contents=[at_address(offer.namespace, one) for one in result["contents"]]
    )


def addressed(namespace: str, block: dict[str, Any]) -> dict[str, Any]:
    """Rewrite the addresses that the block links to into ours."""
    if block.get("type") == "resource_link":
        return at_address(namespace, block)
    if block.get("type") == "resource":
        return {**block, "resource": at_address(namespace, block["resource"])}
    return block


def at_address(namespace: str, resource: dict[str, Any]) -> dict[str, Any]:
    return {**resource, "uri": names.address(namespace, str(resource["uri"]))}


def as_text(structured: Any) -> str:
    plain = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return to_yaml(structured) if len(plain) <= MAX_YAML_CHARACTERS else plain


def to_yaml(structured: Any) -> str:
    dump = partial(yaml.dump, structured, allow_unicode=True, sort_keys=False, width=1_000_000)
    text = str(dump(Dumper=_Dumper))
    # The C dumper escapes characters above U+FFFF, such as emoji.
    return str(dump(Dumper=_SlowDumper)) if _ESCAPED in text else text


class _SlowDumper(yaml.SafeDumper):
    """Writes no anchors: a value that occurs twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # one of two
    """Same as above, in C where available."""

    ignore_aliases = _SlowDumper.ignore_aliases


def failure(name: str, result: dict[str, Any]) -> UpstreamFailed:
    """Turn an error result into an exception with its best message, followed by its code."""
    structured = result.get("structuredContent")
    message = message_in(structured) or text_in(result) or raw(structured or result)
    error = UpstreamFailed(f"{name}: {message}{suffix(structured)}", cause=structured or result)
    log_failure(error.message, error.details["cause"])
    return error


def log_failure(message: str, cause: Any) -> None:
    """Log an error with the upstream's whole answer, in several records if it is long.

    A long answer takes a while, so this is no work for an event loop.
    """
    text = redaction.redact(json.dumps(cause, ensure_ascii=False)).text  # before it is divided
    parts = [text[at : at + LOGGED_CHARACTERS] for at in range(0, len(text), LOGGED_CHARACTERS)]
    for number, part in enumerate(parts, start=1):
        place = f" (part {number} of {len(parts)} of the answer)" if len(parts) > 1 else ""
        logger.warning("%s%s\n%s", message[:LOGGED_MESSAGE_CHARACTERS], place, part)


def message_in(structured: Any) -> str | None:
    if not isinstance(structured, dict):
        return None
    error = structured.get("error")
    nested = error.get("message") if isinstance(error, dict) else None
    candidates = (structured.get("message"), error, nested, structured.get("detail"))
    return next((text for text in candidates if isinstance(text, str) and text.strip()), None)


def text_in(result: dict[str, Any]) -> str:
    blocks = [block for block in result.get("content") or [] if isinstance(block, dict)]
    return "\n".join(str(block["text"]) for block in blocks if block.get("text")).strip()


def raw(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_RAW_CHARACTERS else f"{text[:MAX_RAW_CHARACTERS]}…"


def suffix(structured: Any) -> str:
    """Return ` (code=E_TIMEOUT retriable=false)` if the upstream says so."""
    parts = list(_parts_of_suffix(structured)) if isinstance(structured, dict) else []
    return f" ({' '.join(parts)})" if parts else ""


def _parts_of_suffix(structured: dict[str, Any]) -> Iterator[str]:
    nested = structured.get("error")
    places = [structured, nested] if isinstance(nested, dict) else [structured]
    code = next((place[key] for place in places for key in _CODES if _is_code(place, key)), None)
    if code is not None:
        yield f"code={code}"
    flags = [as_flag(place[key]) for place in places for key in _RETRIABLE if key in place]
    for flag in [flag for flag in flags if flag is not None][:1]:
        yield f"retriable={str(flag).lower()}"


def _is_code(place: dict[str, Any], key: str) -> bool:
    value = place.get(key)
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def as_flag(value: Any) -> bool | None:
    """Read a flag that upstreams send as a boolean, a number or a word."""
    return _WORDS.get(str(value).strip().lower())
