"""Whether what is offered is what was approved, and whether it should be approved unseen."""

import difflib
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

PINNED = {
    "tool": ("name", "title", "description", "inputSchema", "outputSchema", "annotations"),
    "prompt": ("name", "title", "description", "arguments"),
    "resource": ("uri", "name", "title", "description", "mimeType"),
    "template": ("uriTemplate", "name", "title", "description", "mimeType"),
}
LONGEST_DESCRIPTION = 20_000

_ORDERS = re.compile(
    r"<\s*(?:important|system|secret|instructions?)\s*>"
    r"|\bignore\s+(?:all\s+|any\s+|the\s+)?(?:previous|prior|above|other)\b"
    r"|\bdo\s+not\s+(?:tell|mention|inform|show|reveal)\b.{0,40}\buser\b"
    r"|\bwithout\s+(?:telling|informing|asking)\s+the\s+user\b"
    r"|\b(?:before|instead\s+of)\s+(?:using|calling)\s+(?:any|this|another|other)\b.{0,40}\btool"
    r"|~/\.ssh|\bid_rsa\b|\.aws/credentials",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN_CONTROLS = {"\n", "\t", "\r"}
_INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Cn"}


def pinned(kind: str, definition: dict[str, Any]) -> dict[str, Any]:
    """What of it is held to what was approved."""
    return {key: definition[key] for key in PINNED[kind] if definition.get(key) is not None}


def canonical_json(definition: dict[str, Any]) -> str:
    return json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(definition: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(definition).encode("utf-8", "replace")).hexdigest()


def suspicions(definition: dict[str, Any]) -> list[str]:
    """Why a person should look at it first; none for what is ordinary."""
    found = [reason for text in texts(definition) for reason in _suspicions_of(text)]
    return list(dict.fromkeys(found))


def texts(value: Any) -> Iterator[str]:
    """All that a model may read, wherever it is nested, the names of arguments too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def _suspicions_of(text: str) -> Iterator[str]:
    if len(text) > LONGEST_DESCRIPTION:
        yield f"a text of {len(text)} characters"
    for character in sorted({c for c in text if _is_hidden(c)}):
        yield f"the hidden character U+{ord(character):04X}"
    if found := _ORDERS.search(text[:LONGEST_DESCRIPTION]):
        yield f"instructions to the model: {found[0]!r}"


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE and character not in _PLAIN_CONTROLS


def difference(approved: dict[str, Any] | None, definition: dict[str, Any]) -> str:
    """What a person has to look at, line by line, with hidden characters made visible."""
    return "\n".join(
        difflib.unified_diff(
            _lines(approved), _lines(definition), "approved", "now", lineterm="", n=2
        )
    )


def _lines(definition: dict[str, Any] | None) -> list[str]:
    if definition is None:
        return []
    return json.dumps(definition, indent=2, sort_keys=True, ensure_ascii=True).splitlines()
