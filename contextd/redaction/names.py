"""Knows the names that people give to credentials."""

import re

# Each noun ends a name (`DB_PASSWORD`, `stripeApiKey`), so `password_hashers` and `token_count`
# are none. A noun is searched from its first letter on, never from the start of the whole name:
# that keeps the search linear.
NOUN = r"""
    (?P<password> pass(?:word|wd|phrase|code) | pwd
        | (?:db|user|admin|root|mysql|pg|postgres|smtp|mail|ftp|ssh|redis|auth|login|proxy)
          [_-]?(?:pass|pw) )
  | (?P<api_key> api[_-]?(?:key|secret) )
  | (?P<secret_key>
        (?:secret[_-]?access|access|secret|private|signing|encryption|account|auth|service|client
        |master|shared|deploy|license|storage)[_-]?key(?:[_-]?base)? )
  | (?P<secret> secret )
  | (?P<token> token )
"""
_ENDS_WITH_NOUN = re.compile(rf"(?:{NOUN})\d{{0,2}}\Z", re.VERBOSE | re.IGNORECASE)
_NOT_SECRET = re.compile(
    r"(?:\A|[_.-])(?:page|next|continuation|sync|cursor|pad|eos|bos|unk|mask|sep|cls|stop|special"
    r"|public|has|is|no|use|show|needs|requires?|reset|forgot|change|verify|check|get|set)"
    r"[_-]?(?:password|passwd|passphrase|token|secret|key)\d{0,2}\Z",
    re.IGNORECASE,
)
LONGEST = 64


def kind_of(name: str) -> str | None:
    """The kind of credential that a name announces, such as `password` for `DB_PASSWORD`."""
    tail = name[-LONGEST:]
    found = _ENDS_WITH_NOUN.search(tail)
    if found is None or _NOT_SECRET.search(tail):
        return None
    return kind_of_noun(found)


def kind_of_noun(match: re.Match[str]) -> str:
    """The kind of the noun that a pattern containing NOUN has matched."""
    return next(kind for kind in _KINDS if match[kind]).replace("_", "-")


_KINDS = ("password", "api_key", "secret_key", "secret", "token")
