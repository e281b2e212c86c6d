"""Reads an error out of whatever text it was printed in."""

import errno
import re
from dataclasses import replace

from contextd.faults import diagnostics, traces
from contextd.faults.clean import clean
from contextd.faults.fault import Fault

_ERRNO = "|".join(sorted({*errno.errorcode.values(), "ENOTFOUND", "EAI_AGAIN", "ERESOLVE"}))
_CODE = re.compile(rf"\b(?:{_ERRNO}|ERR_[A-Z0-9_]+|0x[89A-Ca-c][0-9A-Fa-f]{{7}})\b")
# Go's convention for wrapped errors: lower-case phrases, each of which was caused by the next.
_WRAPPED = re.compile(r"[a-z][^:\n{}]*(?:: [a-z][^:\n{}]*){2,8}")


def parse(text: str) -> Fault:
    """The error that a text tells; fields are empty where it does not say."""
    plain = clean(text)
    fault = traces.find(plain) or diagnostics.find(plain) or diagnostics.untyped(plain)
    causes = fault.causes or _wrapped(fault)
    return replace(_with_code(fault), causes=tuple(_with_code(cause) for cause in causes))


def _with_code(fault: Fault) -> Fault:
    """A code in the message stands in for a type that is missing or says no more than `Error`."""
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
