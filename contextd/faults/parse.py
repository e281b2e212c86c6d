"""Read an error from whatever text it was printed in."""

import errno
import re
from dataclasses import replace

from contextd.faults import diagnostics, traces
from contextd.faults.clean import clean_records
from contextd.faults.fault import Fault
from contextd.faults.normalize import WINDOWS_CODE

_ERRNO = "|".join(sorted({*errno.errorcode.values(), "ENOTFOUND", "EAI_AGAIN", "ERESOLVE"}))
_CODE = re.compile(rf"\b(?:{_ERRNO}|ERR_[A-Z0-9_]+|{WINDOWS_CODE})\b")
# A text that was written into a JSON string has its lines in it, but not as lines.
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_ESCAPED_STACK = re.compile(r"\\n(?:\\t| )*(?:at |File \\?\"|#\d+ )")
# Go's convention for wrapped errors: lower-case phrases, each of which was caused by the next.
_WRAPPED = re.compile(r"[a-z][^:\n{}]*(?:: [a-z][^:\n{}]*){2,8}")


def parse(text: str) -> Fault:
    """Return the error that a text reports; unknown fields are empty."""
    plain = clean_records(_unescaped(text))
    traced = traces.find(plain)
    fault = traced if traced and traced.error_line else _one_line_error(plain, traced)
    causes = fault.causes or _wrapped(fault)
    return replace(_with_code(fault), causes=tuple(_with_code(cause) for cause in causes))


def _one_line_error(text: str, traced: Fault | None) -> Fault:
    """Return an error reported in one line, with the stack of a trace that does not name it."""
    found = diagnostics.find(text)
    if traced is None:
        return found or diagnostics.untyped(text)
    return replace(found, frames=traced.frames, language=traced.language) if found else traced


def _unescaped(text: str) -> str:
    if not _ESCAPED_STACK.search(text):
        return text
    strings = (string for string in _QUOTED.findall(text) if _ESCAPED_STACK.search(string))
    string: str = next(strings, text)
    return string.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _with_code(fault: Fault) -> Fault:
    """Use a code in the message if the type is missing or says no more than `Error`."""
    if fault.error_type not in {"", "Error"}:
        return fault
    code = _CODE.search(fault.message)
    return replace(fault, error_type=code[0]) if code else fault


def _wrapped(fault: Fault) -> tuple[Fault, ...]:
    if fault.language != "go" or not _WRAPPED.fullmatch(fault.message):
        return ()
    _, *rest = fault.message.split(": ")
    messages = [": ".join(rest[start:]) for start in range(len(rest))]
    return tuple(Fault(message=text, error_line=text, language="go") for text in messages)
