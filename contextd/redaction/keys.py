r"""Finds private keys as whole blocks, including those with escaped `\n` or without an end."""

import re
from collections.abc import Iterator

from contextd.redaction.candidates import Candidate

_BEGIN = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d:"
)
_END = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: ?[0-9a-f]{1,128}"
)
_MAX_KEY_LENGTH = 20_000
_BASE64 = "[A-Za-z0-9+/=]"
_LINE_BREAK = r"(?:\r?\n|\\n)"
_KEY_MATERIAL = re.compile(rf"{_BASE64}{{16}}|{_LINE_BREAK}\s*{_BASE64}{{4}}")
_GAP = r"(?:\\[nrt]|[\s\"'>#|,\\])*+"
_HEADERS = rf"(?:{_GAP}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{0,200}})*+"
_CUT_OFF = re.compile(
    rf"{_HEADERS}(?:{_GAP}{_BASE64}{{16,}}+)++"
    rf"(?:{_LINE_BREAK}{_BASE64}{{1,15}}(?={_LINE_BREAK}|\Z))?"  # the last line is shorter
    rf"|{_LINE_BREAK}{_BASE64}{{4,15}}\Z"
)


def private_keys(text: str) -> Iterator[Candidate]:
    if "BEGIN" not in text and "PuTTY" not in text:
        return
    begins = list(_BEGIN.finditer(text))
    for number, begin in enumerate(begins, start=1):
        limit = begins[number].start() if number < len(begins) else len(text)
        end = _end_of_key(text, begin.end(), min(limit, begin.end() + _MAX_KEY_LENGTH))
        if end is not None:
            yield Candidate(begin.start(), begin.start(), end, "private-key")


def _end_of_key(text: str, body: int, limit: int) -> int | None:
    """Return where the key behind a BEGIN line ends; `None` if the line is only mentioned."""
    end = _END.search(text, body, limit)
    if end and _KEY_MATERIAL.search(text, body, end.start()):
        return end.end()
    cut_off = _CUT_OFF.match(text, body, limit)
    return cut_off.end() if cut_off else None
