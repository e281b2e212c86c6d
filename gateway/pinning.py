"""Compare definitions with the approved ones, and find what needs a review first."""

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
MAX_DESCRIPTION_CHARACTERS = 20_000

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
# Invisible despite their categories: fillers and variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_PICTOGRAPH = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Scripts whose spelling needs joiners: Arabic, Syriac, those of South Asia, Burmese and Khmer.
_JOINING = "\u0620-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17d3"
# Hidden characters that change how their visible neighbours look.
_ORDINARY = re.compile(
    f"(?<=[#*0-9{_PICTOGRAPH}])\ufe0f"
    f"|(?<=[{_PICTOGRAPH}\ufe0f])\u200d(?=[{_PICTOGRAPH}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
)


def pinned(kind: str, definition: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a definition that must match the approved one."""
    return {key: definition[key] for key in PINNED[kind] if definition.get(key) is not None}


def canonical_json(definition: dict[str, Any]) -> str:
    """Raises ValueError for infinite numbers and NaN, which JSON does not have."""
    return json.dumps(
        definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(definition: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(definition).encode("utf-8", "replace")).hexdigest()


def suspicions(definition: dict[str, Any]) -> list[str]:
    """Return the reasons for a review by a person; none if the definition is ordinary."""
    found = [reason for text in texts(definition) for reason in _suspicions_of(text)]
    return list(dict.fromkeys(found))


def texts(value: Any) -> Iterator[str]:
    """Yield every text a model may read, at any depth, including argument names."""
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
    if len(text) > MAX_DESCRIPTION_CHARACTERS:
        yield f"a text of {len(text)} characters"
    for character in sorted({c for c in _ORDINARY.sub("", text) if _is_hidden(c)}):
        yield f"the hidden character U+{ord(character):04X}"
    if found := _ORDERS.search(text[:MAX_DESCRIPTION_CHARACTERS]):
        yield f"instructions to the model: {found[0]!r}"


def _is_hidden(character: str) -> bool:
    if character in _PLAIN_CONTROLS:
        return False
    return unicodedata.category(character) in _INVISIBLE or bool(_UNSEEN.match(character))


def difference(approved: dict[str, Any] | None, definition: dict[str, Any]) -> str:
    """Return the changes to review as a line diff, with hidden characters made visible."""
    return "\n".join(
        difflib.unified_diff(
            _lines(approved), _lines(definition), "approved", "now", lineterm="", n=2
        )
    )


def _lines(definition: dict[str, Any] | None) -> list[str]:
    if definition is None:
        return []
    return json.dumps(definition, indent=2, sort_keys=True, ensure_ascii=True).splitlines()
