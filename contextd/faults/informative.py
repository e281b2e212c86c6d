"""Find the words of an error that distinguish it from other errors."""

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
# A code such as ECONNREFUSED, ERR_REQUIRE_ESM or TS2322, or a reason such as CrashLoopBackOff.
_CODE = re.compile(
    r"E[A-Z]{4,}|[A-Z]+(?:_[A-Z0-9]+)+|[A-Z]{1,10}-?\d{2,}"
    r"|[A-Z]\w*(?:[a-z][A-Z]|[A-Z]{2}[a-z])\w*(?<!Error)(?<!Exception)(?<!Warning)(?<!Failure)"
)
# Several words of a script without spaces: Thai, Japanese, Chinese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{5}")
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


def is_specific(text: str) -> bool:
    """Return whether one word of a text is enough to know its error: a code, or a sentence
    in a script without spaces.
    """
    has_code = any(_CODE.fullmatch(word) for word in informative_words(text))
    return has_code or bool(_UNSPACED.search(text))


def _is_generic(word: str) -> bool:
    name = type_name(word)
    return name in _GENERIC or name in _BUILT_IN or name in KIND_NAMES
