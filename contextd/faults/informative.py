"""Finds the words of an error that distinguish it from other errors."""

import builtins
import re

from contextd.faults.families import KIND_NAMES, type_name

_WORD = re.compile(r"[^\W\d_][\w.-]*\w")
# Level names, and what programs and CI print about any failure.
_FAILURES = """
a abnormal abort aborted all an and at broken build call ci code command completed crash crashed
critical deploy deployment deprecated did does err errno error errors exception exceptions exit
exited fail failed failing failure failures fatal has have help in info internal invalid is it job
last line main make message most my nil no none not npm null occurred occurs of on or panic problem
process recent returned run script severe something status step test tests the there thread to
trace traceback type uncaught undefined unexpected unhandled unknown warn warning was went were with
work working wrong
"""
_GENERIC = frozenset(_FAILURES.split())
_BUILT_IN = {
    name.lower()
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


def informative_words(text: str) -> list[str]:
    """Return the words of a text except level names, exit statuses and types common to a language.

    A type such as `KeyError` only says of which kind an error is; so do the words around it that
    every failure prints.
    """
    return [word for word in _WORD.findall(text) if not _is_generic(word)]


def _is_generic(word: str) -> bool:
    name = type_name(word)
    return name in _GENERIC or name in _BUILT_IN or name in KIND_NAMES
