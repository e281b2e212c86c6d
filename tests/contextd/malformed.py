"""Malformed requests and the answer of each door; `docs/mcp.md` has them as a table."""

from dataclasses import dataclass, field
from typing import Any

from tests.plain_http import ENVELOPE, PREFIX, initialize, rpc
from tests.server import ROOT

PAGE = ROOT / "docs/mcp.md"
START, END = "<!-- table of malformed requests -->", "<!-- end of the table -->"
TOO_LARGE = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "%s"}}' % (
    b"a" * (10 * 1024 * 1024)
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON-RPC error code, the HTTP status if there is one, and whether the id is returned."""

    code: int | None
    status: int | None = None
    has_id: bool = False

    def __str__(self) -> str:
        if self.code is None:
            return f"{self.status}" if self.status else "no answer"
        code = f"{self.code}" + (", with the id" if self.has_id else "")
        return f"{self.status}: {code}" if self.status else code


@dataclass(frozen=True, slots=True)
class Case:
    """`session` is the HTTP answer up to 2025-11-25, `modern` that of 2026-07-28.

    `version` is that of the session, None for a request without one. Headers that are None are
    omitted, those in `twice` are sent twice. `{token}` is that of a user without any permission in
    the context `closed`.
    """

    title: str
    content: Any
    session: Answer | None
    modern: Answer | None
    stdio: Answer | None
    headers: dict[str, str | None] = field(default_factory=dict)
    method: str = "POST"
    version: str | None = "2025-11-25"
    twice: tuple[tuple[str, str], ...] = ()

    def body(self, *, is_modern: bool) -> Any:
        """Return bytes unchanged, and a message with the envelope of its version."""
        if not is_modern or not isinstance(self.content, dict) or "params" not in self.content:
            return self.content
        params = self.content["params"]
        if not isinstance(params, dict):
            return self.content
        return {**self.content, "params": {"_meta": ENVELOPE, **params}}


def both(code: int) -> tuple[Answer, Answer, Answer]:
    return Answer(code, 400), Answer(code, 400), Answer(code)


def http(status: int, code: int | None = -32600) -> tuple[Answer, Answer, None]:
    return Answer(code, status), Answer(code, status), None


PING = rpc("ping")
LISTING = rpc("tools/list")
NOTICE = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
ANSWER = {"jsonrpc": "2.0", "id": "nobody-7", "result": {}}

CASES = [
    Case("not JSON", b"{", *both(-32700)),
    Case("not UTF-8", b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', *both(-32700)),
    Case("nested 100,000 deep", b"[" * 100_000 + b"]" * 100_000, *both(-32700)),
    Case("not an object", b'"ping"', *both(-32600)),
    Case("`jsonrpc` is not 2.0", {**PING, "jsonrpc": "1.0"}, *both(-32600)),
    Case("`method` is missing", {"jsonrpc": "2.0", "id": 1}, *both(-32600)),
    Case("`id` is null", {**LISTING, "id": None}, *both(-32600)),
    Case("`id` is true", {**LISTING, "id": True}, *both(-32600)),
    Case("`id` is 1.5", {**LISTING, "id": 1.5}, *both(-32600)),
    Case("a batch in a version other than 2025-03-26", [PING], *both(-32600)),
    Case("a batch without messages", [], *both(-32600), version="2025-03-26"),
    Case("a batch of 101 messages", [PING] * 101, *both(-32600), version="2025-03-26"),
    Case("larger than 10 MB", TOO_LARGE, *http(413)[:2], Answer(-32600)),
    Case(
        "unknown method",
        rpc("no/such"),
        Answer(-32601, 200, has_id=True),
        Answer(-32601, 404, has_id=True),
        Answer(-32601, has_id=True),
    ),
    Case(
        "`params` of the wrong type",
        rpc("tools/list", {"cursor": 7}),
        Answer(-32602, 200, has_id=True),
        Answer(-32602, 400, has_id=True),
        Answer(-32602, has_id=True),
    ),
    Case(
        "unknown tool",
        rpc("tools/call", {"name": "no_such"}),
        Answer(-32602, 200, has_id=True),
        Answer(-32602, 400, has_id=True),
        Answer(-32602, has_id=True),
    ),
    Case(
        "a second `initialize`",
        initialize("2025-11-25"),
        Answer(-32600, 400),
        Answer(-32601, 404, has_id=True),
        Answer(-32600, has_id=True),
    ),
    Case("an HTTP method other than POST, GET, DELETE", LISTING, *http(405), method="PUT"),
    Case("a GET request", LISTING, None, Answer(-32600, 405), None, method="GET"),
    Case("a DELETE request", LISTING, None, Answer(-32600, 405), None, method="DELETE"),
    Case(
        "a GET request without a session",
        b"",
        Answer(-32600, 400),
        None,
        None,
        method="GET",
        version=None,
    ),
    Case(
        "a DELETE request without a session",
        b"",
        Answer(-32600, 400),
        None,
        None,
        method="DELETE",
        version=None,
    ),
    Case(
        "a GET request whose `Accept` lacks `text/event-stream`",
        b"",
        Answer(-32600, 406),
        None,
        None,
        {"Accept": "application/json"},
        method="GET",
    ),
    Case(
        "`Last-Event-ID` of a call that is unknown here",
        b"",
        Answer(-32600, 410),
        None,
        None,
        {"Last-Event-ID": "call-of-another-process"},
        method="GET",
    ),
    *(
        Case(f"`{name}` sent twice", LISTING, *http(400), twice=((name, value),))
        for name, value in (
            ("X-MCP-Context", "default"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/list"),
            ("Mcp-Name", "status"),
        )
    ),
    Case("`X-MCP-Context` without a name", LISTING, *http(400), {"X-MCP-Context": ""}),
    Case("`Content-Type: text/plain`", LISTING, *http(415), {"Content-Type": "text/plain"}),
    Case(
        "`Accept` without `text/event-stream`", LISTING, *http(406), {"Accept": "application/json"}
    ),
    Case("`Host` of another site", LISTING, *http(421), {"Host": "evil.example"}),
    Case("`Origin` of another site", LISTING, *http(403), {"Origin": "https://evil.example"}),
    Case(
        "unknown, expired or revoked token, or JWT that is not valid here",
        LISTING,
        *http(401),
        {"Authorization": "Bearer wrong"},
    ),
    Case("unknown context", LISTING, *http(404), {"X-MCP-Context": "no-such"}),
    Case(
        "context in which the caller or the token has no permission",
        LISTING,
        *http(403),
        {"X-MCP-Context": "closed", "Authorization": "Bearer {token}"},
    ),
    Case(
        "unknown session",
        LISTING,
        Answer(-32600, 404),
        None,
        None,
        {"Mcp-Session-Id": "0" * 32},
    ),
    Case("a request without a session", LISTING, Answer(-32600, 400), None, None, version=None),
    Case("a notification without a session", NOTICE, Answer(-32600, 400), None, None, version=None),
    Case("an answer without a session", ANSWER, Answer(-32600, 400), None, None, version=None),
    Case("an answer to no question", ANSWER, Answer(-32600, 410), Answer(-32600, 400), None),
    Case(
        "unknown version in `MCP-Protocol-Version`",
        {**LISTING, "params": {"_meta": {**ENVELOPE, f"{PREFIX}protocolVersion": "2099-01-01"}}},
        None,
        Answer(-32022, 400, has_id=True),
        None,
        {"MCP-Protocol-Version": "2099-01-01"},
    ),
    Case(
        "`Mcp-Method` names another method",
        LISTING,
        None,
        Answer(-32020, 400, has_id=True),
        None,
        {"Mcp-Method": "tools/call"},
    ),
    Case(
        "`Mcp-Method` is missing",
        LISTING,
        None,
        Answer(-32020, 400, has_id=True),
        None,
        {"Mcp-Method": None},
    ),
    Case(
        "`Mcp-Name` names another tool, prompt, resource or task",
        rpc("tools/call", {"name": "status"}),
        None,
        Answer(-32020, 400, has_id=True),
        None,
        {"Mcp-Name": "checkpoint_list"},
    ),
    Case(
        "versions of header and message differ",
        {**LISTING, "params": {"_meta": {**ENVELOPE, f"{PREFIX}protocolVersion": "2025-11-25"}}},
        None,
        Answer(-32020, 400, has_id=True),
        None,
    ),
    Case(
        "no capabilities in the message",
        {
            **LISTING,
            "params": {"_meta": {f"{PREFIX}protocolVersion": "2026-07-28"}},
        },
        None,
        Answer(-32602, 400, has_id=True),
        None,
    ),
]


def table() -> str:
    rows = ["| | up to 2025-11-25 | 2026-07-28 | stdio |", "|---|---|---|---|"]
    rows += [
        f"| {case.title} | {case.session or ''} | {case.modern or ''} | {case.stdio or ''} |"
        for case in CASES
    ]
    return "\n".join(rows)


def main() -> None:
    """Write the table into the page: `python -m tests.contextd.malformed`."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
