"""Tells a literal credential from what stands in its place: masks, templates, prose, code."""

import re

_TEMPLATE = re.compile(
    r"\$[{(\[]|\{\{|<%|%\(|[#@]\{|ENC\["  # ${X} $(x) $[x] {{ x }} <% x %> %(x)s #{x} @{x} ENC[x]
    r"|\A(?:\$[\w:]+|%\w+%|%[sdrv]|:[A-Za-z_]\w*|<[^<>]*>|!\w+.*)\Z"  # $X %X% %s :x <x> !vault
    r"|\{[A-Za-z_][\w.!\[\]:]{0,64}\}"  # {x}
)
_MASK = re.compile(r"[*•·●.…_#?\s-]+|[xX]{2,}")
_CUT_SHORT = re.compile(r"\.\.\.|…|\*\*\*|[xX]{4}")
_PLACEHOLDERS = frozenset(
    "your yours changeme changeit change changethis placeholder replace replaceme insert dummy"
    " redacted removed hidden masked todo tbd fixme example sample fake".split()
)
_TYPES_AND_STATES = frozenset(
    "none null nil undefined true false yes no on off str string text bytes any int integer"
    " boolean bool object char varchar required optional missing invalid empty unset blank".split()
)
_FUNCTION_WORDS = frozenset(
    "a an the is are was be must not no for to of in on and or your you please enter with this"
    " that has have does too it".split()
)
_WORDS = re.compile(r"[A-Za-z]+")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_WORD_OR_VERSION = re.compile(r"[A-Za-z]*|v?\d{1,8}|[A-Za-z]{1,8}\d{1,4}")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@ -]++[/\\]?)*+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://\S*")
_DOTTED = re.compile(r"[A-Za-z_$]\w*+(?:(?:\.|::|->)[A-Za-z_]\w*+)++")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++")


def is_placeholder(value: str) -> bool:
    """Whether a mask, a template or words like `changeme` stand where a credential would."""
    if not value or _MASK.fullmatch(value) or _TEMPLATE.search(value):
        return True
    if _CUT_SHORT.search(value) or value.lower().rstrip("!?.,") in _TYPES_AND_STATES:
        return True
    return not _PLACEHOLDERS.isdisjoint(_WORDS.findall(value.lower()))


def reads_as_prose(value: str) -> bool:
    """Whether a value with spaces is a sentence or a label, not a passphrase."""
    words = value.split()
    if len(words) < 2:
        return False
    return value[0].isupper() or not _FUNCTION_WORDS.isdisjoint(_WORDS.findall(value.lower()))


def is_location(value: str) -> bool:
    """Whether a value is a path or an address, where a credential may be found."""
    return bool(_PATH.fullmatch(value) or _URL.fullmatch(value))


def is_code(value: str) -> bool:
    """Whether a value without quotes is a name in a program."""
    return bool(_DOTTED.fullmatch(value) or _CONSTANT.fullmatch(value))


def is_mixed(value: str) -> bool:
    """Whether a value is more than letters, so no plain word."""
    core = value.rstrip("!?.,:")
    return any(map(str.isalpha, core)) and not all(map(str.isalpha, core))


def looks_random(value: str) -> bool:
    """Whether a value has letters and digits, and is not made of words and versions alone."""
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    parts = _SEPARATORS.split(value)
    return len(parts) == 1 or not all(map(_WORD_OR_VERSION.fullmatch, parts))
