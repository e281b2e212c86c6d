"""Says what SQL statements would destroy."""

import logging
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

MAX_LENGTH = 20_000
MAX_STATEMENTS, MAX_STATEMENT_LENGTH = 200, 4_000

_BEGINNINGS = re.compile(
    r"(?:ALTER|BEGIN|COMMIT|CREATE|DELETE|DROP|EXPLAIN|FLUSH|GRANT|INSERT|KILL|LOCK|REVOKE|ROLLBACK"
    r"|SAVEPOINT|SELECT|SET|START|TRUNCATE|UPDATE|USE|VACUUM|WITH)\b",
    re.IGNORECASE,
)
_JUDGED = re.compile(
    r"(?:DROP|TRUNCATE|DELETE|UPDATE|ALTER|SELECT|WITH|INSERT|EXPLAIN|KILL|DO|RESET|PURGE)\b",
    re.IGNORECASE,
)
# Comments and commands of the client (`\c shop`) are left out, what is quoted stays whole.
_PIECE = re.compile(
    r"""(?P<skipped>--[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*\\[^\n]*)
      | '(?:[^']|'')*(?:'|\Z) | "[^"]*(?:"|\Z) | `[^`]*(?:`|\Z)
      | \$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)
      | (?P<end>;) | [^;'"`$/\\\n-]+ | .""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_EXPLAINED = re.compile(r"EXPLAIN\s+(?P<how>\([^)]*\)|(?:(?:ANALYZE|VERBOSE)\s+)*)", re.IGNORECASE)
_BLOCK = re.compile(r"DO\b.*?\$\w*\$", re.IGNORECASE | re.DOTALL)
_ENDING = re.compile(
    r"\bpg_(?:cancel_backend|terminate_backend|drop_replication_slot)\s*\("
    r"|(?-i:^KILL\s+(?:(?:CONNECTION|QUERY)\s+)?(?:\d+|ID\b))",  # the shell's is in small letters
    re.IGNORECASE,
)
# What the parser cannot read, or keeps as text.
_NAME = r"[\w\"`\[<:$'{]\S*"
_WORDINGS = [
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), what)
    for pattern, what in (
        (
            r"DROP\s+(?:TABLE|DATABASE|KEYSPACE|SCHEMA|(?:MATERIALIZED\s+)?VIEW|INDEX|SEQUENCE|TYPE|DOMAIN"
            r"|FUNCTION|PROCEDURE|TRIGGER|POLICY|EVENT|USER|ROLE|EXTENSION|OWNED|PUBLICATION"
            rf"|SUBSCRIPTION|TABLESPACE|SERVER)\s+{_NAME}",
            "DROP cannot be undone",
        ),
        (rf"TRUNCATE\s+TABLE\s+{_NAME}", "TRUNCATE removes all rows"),
        (r"(?:RESET\s+MASTER|PURGE\s+(?:BINARY|MASTER)\s+LOGS)\b", "it deletes binary logs"),
        (rf"DELETE\s+FROM\s+{_NAME}", "DELETE deletes rows for good"),
        (rf"UPDATE\s+{_NAME}\s+SET\s", "UPDATE changes rows for good"),
        (rf"ALTER\s+TABLE\s+{_NAME}\s.*\bDROP\b", "ALTER ... DROP loses what it drops"),
    )
]
_DETERMINER = re.compile(r"\b(?:an|the|this|your)\b", re.IGNORECASE)


def is_sql(text: str) -> bool:
    """Whether it begins as a statement does; not whether it is a right one."""
    return bool(_BEGINNINGS.match(next(_statements(text), "")))


def dangers(text: str) -> list[str]:
    """What the statements would destroy; nothing for what is not SQL."""
    statements = (one for one in _statements(text) if _JUDGED.match(one))
    judged = islice(statements, MAX_STATEMENTS)
    return list(dict.fromkeys(what for statement in judged for what in _of_text(statement)))


def is_whole(text: str) -> bool:
    """Whether all of it is a statement that destroys, unlike a sentence that begins as one."""
    if _DETERMINER.search(text) or not _by_wording(text):
        return False
    try:
        found = _parsed(text)
    except RecursionError:
        return False
    # The parser keeps the text of statements that it does not know.
    unknown = any(isinstance(one, _library().exp.Command) for one in found)
    return bool(found) and (not unknown or text.endswith(";"))


def _statements(text: str) -> Iterator[str]:
    statement = ""
    for piece in _PIECE.finditer(text[:MAX_LENGTH]):
        if not piece["end"]:
            statement += "" if piece["skipped"] else piece[0]
        elif statement.strip():
            yield statement.strip()[:MAX_STATEMENT_LENGTH]
            statement = ""
    if statement.strip():
        yield statement.strip()[:MAX_STATEMENT_LENGTH]


def _of_text(statement: str) -> list[str]:
    if explained := _EXPLAINED.match(statement):
        if "analyze" not in explained["how"].lower():
            return []
        statement = statement[explained.end() :].strip()
    if _BLOCK.match(statement):  # it may also build its statements from texts
        return [what for pattern, what in _WORDINGS if pattern.search(statement)]
    try:
        found = [what for one in _parsed(statement) for what in _of(one)]
    except RecursionError:  # nested deeper than anybody writes
        found = []
    return found or _by_wording(statement)


@cache
def _library() -> Any:
    import sqlglot  # a quarter of a second, which not every process needs

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # what it cannot read is prose to us
    return sqlglot


def _parsed(text: str) -> list[Any]:
    sqlglot = _library()
    for dialect in ("postgres", "mysql"):
        try:
            return [statement for statement in sqlglot.parse(text, read=dialect) if statement]
        except sqlglot.errors.SqlglotError:
            continue
    return []


def _of(statement: Any) -> Iterator[str]:
    exp = _library().exp
    for inner in (statement, *(part.this for part in statement.find_all(exp.CTE))):
        match inner:
            case exp.Drop():
                yield f"DROP {inner.args.get('kind') or ''} cannot be undone".replace("  ", " ")
            case exp.TruncateTable():
                yield "TRUNCATE removes all rows"
            case exp.Delete() | exp.Update():
                yield from _of_rows(inner)
            case exp.Alter():
                if any(isinstance(one, exp.Drop) for one in inner.args.get("actions") or []):
                    yield "ALTER ... DROP loses what it drops"


def _of_rows(statement: Any) -> Iterator[str]:
    exp = _library().exp
    what, verb = (
        ("deletes", "DELETE") if isinstance(statement, exp.Delete) else ("changes", "UPDATE")
    )
    if verb == "UPDATE" and not statement.args.get("expressions"):
        return
    if statement.args.get("where") is None:
        yield f"{verb} without WHERE {what} every row"
    else:
        yield f"{verb} {what} rows for good"


def _by_wording(statement: str) -> list[str]:
    if _ENDING.search(statement):
        return ["it ends the work of others on the database"]
    return [what for pattern, what in _WORDINGS if pattern.match(statement)]
