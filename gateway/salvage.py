"""Find the call that a broken JSON-RPC answer belongs to, without parsing the answer.

Every JSON parser has limits (nesting, digits, surrogates, UTF-8) and none returns the id of a
message beyond them, so only the outermost members are looked at here.
"""

import json
import re
from itertools import islice

from mcp.types import RequestId

MAX_TOKENS = 100_000
"""Bounds the time: a message of single brackets and commas has millions of tokens."""
MAX_ID_LENGTH = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}:,]|[^\s"\[\]{}:,]++', re.DOTALL)
# The brace that ends the line closes the outermost object.
_ID_AT_THE_END = re.compile(
    rb',\s*"id"\s*:\s*("[^"\\]*"|[^\s",{}]+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z'
)


class Unattributable(ValueError):
    """Raised for an answer whose call cannot be identified."""


def call_answered_by(line: bytes) -> RequestId | None:
    """Return the id of the call that the unparsable line answers; None if it is no answer.

    Raises Unattributable for an answer without a readable id.
    """
    text = line.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"[") and b'"jsonrpc"' in text:
        raise Unattributable("it wrote a batch, which answers no single call")
    members = outermost_members(text) if text.startswith(b"{") else {}
    if b'"method"' in members or not members.keys() & {b'"jsonrpc"', b'"result"', b'"error"'}:
        return None
    request_id = as_request_id(members.get(b'"id"', b""))
    if request_id is None and b'"jsonrpc"' in members:
        raise Unattributable("it wrote an answer without a readable id")
    return request_id


def call_answered_at_length(beginning: bytes, end: bytes) -> RequestId | None:
    """Return the id of the call that an oversized line answers, from its beginning and its end.

    None for a request or a notification. Raises Unattributable if no id is found.
    """
    members = outermost_members(beginning.removeprefix(BYTE_ORDER_MARK).lstrip())
    if b'"method"' in members:
        return None
    last = _ID_AT_THE_END.search(end)
    request_id = as_request_id(members.get(b'"id"') or (last[1] if last else b""))
    if request_id is None:
        raise Unattributable("it wrote an answer without a readable id")
    return request_id


def outermost_members(text: bytes) -> dict[bytes, bytes]:
    """Map each quoted name of the outermost object to the first token of its value."""
    members: dict[bytes, bytes] = {}
    depth, name, before = 0, b"", b""
    for match in islice(_TOKEN.finditer(text), MAX_TOKENS):
        token = match[0]
        if depth == 1 and before == b":":
            members.setdefault(name, token)
        elif depth == 1 and token.startswith(b'"'):
            name = token
        depth += DEPTH.get(token, 0)
        before = token
    return members


def as_request_id(token: bytes) -> RequestId | None:
    if len(token) > MAX_ID_LENGTH:
        return None
    try:
        value = json.loads(token)
    except ValueError:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    is_id = isinstance(value, int | str) and not isinstance(value, bool)
    return value if is_id else None
