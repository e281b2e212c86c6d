"""Recognises the names that people give to credentials."""

import re

from contextd.redaction import literals

_KEYS = (
    "access|secret|private|signing|encryption|account|auth|service|client|master|shared|deploy"
    "|license|storage|subscription"
)
# Each noun ends a name (`DB_PASSWORD`, `stripeApiKey`, `Access key`): `password_hashers` and
# `token_count` name no credential.
_NOUN = rf"""
    (?P<password> pass(?:wor[dt]|wd|phrase|code) | pwd | (?<![A-Za-z0-9])pw
        | senha | contrase[nñ]a | пароль | 密码
        | (?:db|user|admin|root|mysql|pg|postgres|smtp|mail|ftp|ssh|redis|auth|login|proxy)
          [_-]?(?:pass|pw) )
  | (?P<api_key> api[ _-]?(?:key|secret) )
  | (?P<secret_key> (?:{_KEYS})[ _-]?key(?:[_-]?(?:base|data))? )
  | (?P<secret> secret )
  | (?P<token> token )
"""
_KINDS = ("password", "api_key", "secret_key", "secret", "token")
_ANY_NOUN = re.compile(_NOUN, re.VERBOSE | re.IGNORECASE)
_LAST_NOUN = re.compile(rf"(?:{_NOUN})\d{{0,2}}\Z", re.VERBOSE | re.IGNORECASE)
_VAGUE = re.compile(
    r"(?:.*\.|-{1,2})?(?P<password>pass|Pass|PASS)|(?P<secret_key>[A-Z][A-Z0-9_]*_KEY\d{0,2})"
)
_OF_A_PARSER = "unexpected|unrecognized|illegal|expected|offending"
# `next_page_token`, `pad_token`, `has_password`, `publicKeyToken`, `design_token`
_NO_CREDENTIAL = re.compile(
    r"(?:(?:\A|[ _.-]|(?-i:(?<=[a-z])(?=[A-Z])))"
    r"(?:(?:page|next|continuation|sync|cursor|pad|eos|bos|unk|mask|sep|cls|stop"
    r"|special|public|has|is|no|use|show|needs|requires?|reset|forgot|change|verify|check|get|set)"
    r"[_-]?(?:password|passwd|passphrase|token|secret|key)"
    rf"|(?:input|output|prompt|completion|design|{_OF_A_PARSER})[ _-]?token"
    r"|(?:cache|sort|partition|primary|foreign|unique|publishable|site|index|routing|group|lookup"
    r"|object|row|hash|host|idempotency|project|instrumentation|bucket|lock|queue|state|gpg|pgp|s3)"
    r"_key)\d{0,2}|public[_-]?key[_-]?token)\Z",
    re.IGNORECASE,
)
# The names that may be written with a space.
SPOKEN = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?:api|{_KEYS})[ ]key|(?:{_OF_A_PARSER})[ ]token)\d{{0,2}}\Z",
    re.IGNORECASE,
)
MAX_FIRST_WORD_LENGTH = 12
MAX_NAME_LENGTH = 64
_MIN_KEY_LENGTH = 16


def kind_of(name: str) -> str | None:
    """Return the kind of credential that a name announces: `password` for `DB_PASSWORD`."""
    ending = name[-MAX_NAME_LENGTH:]
    noun = _LAST_NOUN.search(ending) or _VAGUE.fullmatch(ending)
    if noun is None or _NO_CREDENTIAL.search(ending):
        return None
    kinds = noun.groupdict()
    return next(kind for kind in _KINDS if kinds.get(kind)).replace("_", "-")


def is_vague(name: str) -> bool:
    """Return whether the name is also used otherwise: `PASS` in test output, `FEATURE_KEY`."""
    ending = name[-MAX_NAME_LENGTH:]
    return _VAGUE.fullmatch(ending) is not None and _LAST_NOUN.search(ending) is None


def is_specific(name: str, value: str) -> bool:
    """Return whether a value can only be a credential, even if its name is vague."""
    if not is_vague(name):
        return True
    if kind_of(name) == "password":
        return literals.is_mixed(value) and any(map(str.isdigit, value))
    return len(value) >= _MIN_KEY_LENGTH and literals.is_dense(value)


def is_mentioned_in(value: str) -> bool:
    """Return whether a value names credentials, as a variable or type does: `PrivateKeyTypes`."""
    return _ANY_NOUN.search(value) is not None


def _in_either_case(pattern: str) -> str:
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern)


# How the last noun of a name ends. Unlike IGNORECASE, which tries every alternative at every
# letter, this lets a search skip letters that begin none.
ENDING = (
    _in_either_case(
        r"(?:pass(?:wor(?:d|t)|wd|phrase|code)?|pwd?|secret|token|key(?:[_-]?(?:base|data))?"
        r"|senha|contrase(?:n|ñ)a|пароль|密码)"
    )
    + r"\d{0,2}(?![A-Za-z0-9_-])"
)
