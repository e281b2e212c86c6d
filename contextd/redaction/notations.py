"""Determines how a value behind a name is written: in quotes, as a setting, in a sentence."""

import re
from enum import Enum, auto

from contextd.redaction import names


class Notation(Enum):
    """How a value is written, which helps to distinguish a literal from a variable or a word."""

    QUOTED = auto()  # password = "hunter2", <password>hunter2</password>
    ENTRY = auto()  # "password": "hunter2", 'password' => 'hunter2'
    SETTING = auto()  # DB_PASSWORD=hunter2
    PAIR = auto()  # ?user=a&password=tiger, host=x password=tiger, Uid=a;Password=tiger
    BARE = auto()  # password: hunter2
    SPOKEN = auto()  # log in with password Sup3rAdm1n


_LINE_BREAKS = ("", "\n", "\r", "\\")
_QUOTES = ('"', "'", "\\")
_ENTRY_OPERATORS = (":", "=>", "\uff1a")
_USER_OF_ADDRESS = re.compile(r"://[\w.%~+-]{0,64}\Z", re.ASCII)
_PARAMETER = (
    r"(?:host|server|source|endpoint|address|user|uid|id|login|account|db|database|catalog|port"
    r"|driver|ssl|encrypt|service|domain)(?:name|mode)?="
)
_PAIR = re.compile(rf"[\w.]*?{_PARAMETER}.+", re.IGNORECASE)
_NEXT_PAIR = re.compile(rf"[ ;]{_PARAMETER}(?!=)", re.IGNORECASE)
_MAX_PAIR_LENGTH = 8_000


def notation_of(text: str, match: re.Match[str], name_start: int) -> Notation | None:
    """Return how the value is written; `None` if what follows the name is not its value."""
    operator = match["operator"]
    if operator == ">":
        return Notation.QUOTED if _is_element(text, match, name_start) else None
    if operator == " " and text[max(0, name_start - 4) : name_start] == "ENV ":
        return Notation.QUOTED if match["quote"] else Notation.SETTING
    if operator == " " and not text.startswith("--", name_start):
        return None if match["quote"] else Notation.SPOKEN
    if operator == ":" and _USER_OF_ADDRESS.search(text, max(0, name_start - 64), name_start):
        return None  # `https://x-access-token:...@host`: the rule for addresses finds its end
    if match["quote"]:
        is_entry = operator.strip() in _ENTRY_OPERATORS and not _is_spoken(text, match, name_start)
        return Notation.ENTRY if is_entry else Notation.QUOTED
    if _is_setting(text, match, name_start):
        return Notation.SETTING
    return Notation.PAIR if _is_pair(text, match, name_start) else Notation.BARE


def _is_spoken(text: str, match: re.Match[str], name_start: int) -> bool:
    """Return whether the name is part of a sentence or headline, such as `API key` unquoted."""
    end = match.end("noun")
    return " " in text[name_start:end] and text[end : end + 1] not in _QUOTES


def _is_element(text: str, match: re.Match[str], name_start: int) -> bool:
    opens = text[name_start - 1 : name_start] == "<"
    return opens and match["quote"] is None and text.startswith("</", match.end("bare"))


def _is_setting(text: str, match: re.Match[str], name_start: int) -> bool:
    """Return whether it is a line of an environment or properties file, or `--flag=value`."""
    name = text[name_start : match.end("noun")]
    is_shouted = name.isupper()
    ends_line = text[match.end("bare") : match.end("bare") + 1] in _LINE_BREAKS
    if match["operator"] == "=":
        starts_line = text[name_start - 1 : name_start] in _LINE_BREAKS
        is_flag = text.startswith("--", name_start)
        return is_shouted or is_flag or (starts_line and ends_line)
    is_entry = match["operator"].strip() == ":" and match.end("noun") == match.start("operator")
    return is_shouted and is_entry and ends_line and not names.is_vague(name)


def _is_pair(text: str, match: re.Match[str], name_start: int) -> bool:
    """Return whether it is a parameter of a query or of a connection string."""
    before = text[max(0, name_start - 2) : name_start]
    if match["operator"] != "=" or before == "&&":
        return False
    if before.endswith(("?", "&")):
        return True
    if _NEXT_PAIR.match(text, match.end("bare")):
        return True
    if not before.endswith((" ", ";")):
        return False
    end, furthest = name_start - 1, max(0, name_start - _MAX_PAIR_LENGTH)
    start = 1 + max(text.rfind(mark, furthest, end) for mark in (" ", ";", "\n"))
    return _PAIR.fullmatch(text, start, end) is not None
