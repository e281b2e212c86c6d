"""Knows the names that people give to credentials."""

import re

# Each noun ends a name (`DB_PASSWORD`, `stripeApiKey`): `password_hashers` and `token_count` name
# no credential.
_NOUN = r"""
    (?P<password> pass(?:word|wd|phrase|code) | pwd
        | (?:db|user|admin|root|mysql|pg|postgres|smtp|mail|ftp|ssh|redis|auth|login|proxy)
          [_-]?(?:pass|pw) )
  | (?P<api_key> api[_-]?(?:key|secret) )
  | (?P<secret_key>
        (?:access|secret|private|signing|encryption|account|auth|service|client|master|shared
        |deploy|license|storage)[_-]?key(?:[_-]?base)? )
  | (?P<secret> secret )
  | (?P<token> token )
"""
_KINDS = ("password", "api_key", "secret_key", "secret", "token")
_ANY_NOUN = re.compile(_NOUN, re.VERBOSE | re.IGNORECASE)
_LAST_NOUN = re.compile(rf"(?:{_NOUN})\d{{0,2}}\Z", re.VERBOSE | re.IGNORECASE)
# `next_page_token`, `pad_token`, `has_password`, `publicKeyToken`
_NO_CREDENTIAL = re.compile(
    r"(?:(?:\A|[_.-])(?:page|next|continuation|sync|cursor|pad|eos|bos|unk|mask|sep|cls|stop"
    r"|special|public|has|is|no|use|show|needs|requires?|reset|forgot|change|verify|check|get|set)"
    r"[_-]?(?:password|passwd|passphrase|token|secret|key)\d{0,2}|public[_-]?key[_-]?token)\Z",
    re.IGNORECASE,
)
LONGEST = 64


def kind_of(name: str) -> str | None:
    """The kind of credential that a name announces, such as `password` for `DB_PASSWORD`."""
    ending = name[-LONGEST:]
    noun = _LAST_NOUN.search(ending)
    if noun is None or _NO_CREDENTIAL.search(ending):
        return None
    return next(kind for kind in _KINDS if noun[kind]).replace("_", "-")


def is_mentioned_in(value: str) -> bool:
    """Whether a value speaks of credentials, as a variable or a type does: `PrivateKeyTypes`."""
    return _ANY_NOUN.search(value) is not None


def _in_either_case(pattern: str) -> str:
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern)


# How the last noun of a name ends. Unlike IGNORECASE, which tries every alternative at every
# letter, this lets a search skip the letters that begin none.
ENDING = (
    _in_either_case(r"(?:pass(?:word|wd|phrase|code)?|pwd?|secret|token|key(?:[_-]?base)?)")
    + r"\d{0,2}(?![A-Za-z0-9_-])"
)
