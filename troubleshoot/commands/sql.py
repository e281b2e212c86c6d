"""Says what SQL statements would destroy."""

import logging
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

LONGEST = 20_000
_VERBS = re.compile(
    r"\s*(?:DROP|TRUNCATE|DELETE|UPDATE|ALTER|SELECT|WITH|FLUSH|KILL)\b", re.IGNORECASE
)
_WHOLE = re.compile(
    r"DROP\s+(?:USER|ROLE|EXTENSION|OWNED|PUBLICATION|SUBSCRIPTION|TABLESPACE|DATABASE|SCHEMA)"
    r"\s+(?:BY\s+|IF\s+EXISTS\s+)?[\w'\"`.@%-]+(?:\s*(?:CASCADE|RESTRICT|WITH\b.*))?\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_ENDING = re.compile(r"\bpg_(?:terminate_backend|drop_replication_slot)\s*\(", re.IGNORECASE)


def is_sql(text: str) -> bool:
    """Whether it begins as a statement does; not whether it is a right one."""
    return bool(_VERBS.match(text))


def dangers(text: str) -> list[str]:
    """What the statements would destroy; nothing for what is not SQL."""
    if not is_sql(text) and ";" not in text:
        return []
    return list(dict.fromkeys(_all(text[:LONGEST])))


def _all(text: str) -> Iterator[str]:
    for statement in _parsed(text):
        yield from _of(statement)


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
    match statement:
        case exp.Drop():
            yield f"DROP {statement.args.get('kind') or ''} cannot be undone".replace("  ", " ")
        case exp.TruncateTable():
            yield "TRUNCATE removes all rows"
        case exp.Delete() | exp.Update():
            yield from _of_rows(statement)
        case exp.Alter():
            if any(isinstance(action, exp.Drop) for action in statement.args.get("actions") or []):
                yield "ALTER ... DROP loses what it drops"
        case _:
            yield from _of_others(statement.sql())


def _of_others(statement: str) -> Iterator[str]:
    """What the parser keeps as text, and calls of functions."""
    if _WHOLE.fullmatch(statement):
        yield "DROP cannot be undone"
    elif _ENDING.search(statement):
        yield "it ends the work of others on the database"


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
