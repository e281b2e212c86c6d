"""Finds credentials by their name: in settings, literals in code, JSON, YAML and flags."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contextd.redaction import literals, names, notations
from contextd.redaction.candidates import Candidate
from contextd.redaction.notations import Notation


@dataclass(frozen=True)
class Assigned:
    """The value assigned to a name, and the character behind it."""

    name: str
    kind: str
    value: str
    following: str


_MAX_JUDGED_LENGTH = 256  # characters: enough to judge, and a long value full of names stays cheap
_BARE_CHARACTER = r"""(?:[^\s"'`;<>\\]|\\(?![nrt"'\\]))"""
# Only the noun is consumed: what follows it may hold the next name.
_ASSIGNMENT = re.compile(
    rf"""
    (?P<noun>{names.ENDING})
    (?=
        (?: \\?["'`] | [\]*] ){{0,4}}
        (?P<operator>
            [ \t]{{0,20}}
            (?: :[ \t]{{0,4}}[A-Za-z][A-Za-z_.|\[\]\ ]{{0,40}}?[ \t]{{0,4}}=(?!=)  # : str =
              | [!=]==? | := | => | = | [:\uff1a] )
            [ \t]{{0,20}} (?:\*\*)? [ \t]?
          | [ ]is:?[ ] | [ ] | > )
        (?: [|>][+-]?[ \t]{{0,4}}\r?\n[ \t]{{1,40}} | \[[ \t]?(?=\\?["']) )?  # in YAML; in a list
        (?: (?:[rbuf]{{1,2}}|@)? (?P<quote>``|\\?["'`])
            (?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\n])){{1,8000}}+) (?:(?P=quote)|\Z)
          | (?P<bare>{_BARE_CHARACTER}{{1,{_MAX_JUDGED_LENGTH}}}+) )
    )
    """,
    re.VERBOSE,
)
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
# `getenv(`, `tokens[0]`, `random(32)`: few digits, at the end of the name or alone in brackets.
_CALL = re.compile(
    r"[A-Za-z_$](?:[A-Za-z_$.:>]|->)*+\d{0,2}[(\[](?:\d{1,3}(?:[)\]]|\Z)|(?P<rest>\D*)\Z)"
)
_END_OF_BARE = re.compile(r"[,&(){}\[\]]")
_REST_OF_BARE = re.compile(r"""[^\s"'`;<>\\,&(){}\[\]]*+""")
# In a line of settings, a sign within the value does not end it.
_REST_OF_SETTING = re.compile(r"""(?:(?!\\[nrt"'\\])[^\s\w]{1,9}(?=\w)[^\s"'`;<>\\]*+)*+""")
_CLOSING = ",)]}|"
_OPENING = {")": "(", "]": "[", "}": "{"}
_END_OF_ENTRY = re.compile(r"[ \t]{0,20}(?:[\r\n]|\Z|(?<=[ \t])#)")
_BEFORE_ENTRY = re.compile(r"(?:\A|\n)[ \t>*-]{0,60}\Z")
_MIN_PASSWORD_LENGTH_IN_PAIR = 4
_MIN_LENGTHS = {"api-key": 6, "secret-key": 6, "secret": 6, "token": 10}


def assigned_credentials(text: str) -> Iterator[Candidate]:
    covered = 0
    for match in _ASSIGNMENT.finditer(text):
        if match.start() < covered:
            continue
        candidate = _candidate(text, match)
        if candidate:
            covered = candidate.end
            yield candidate


def _candidate(text: str, match: re.Match[str]) -> Candidate | None:
    name_start = _start_of_name(text, match)
    name = text[name_start : match.end("noun")]
    kind = names.kind_of(name)
    notation = notations.notation_of(text, match, name_start) if kind else None
    if kind is None or notation is None:
        return None
    is_whole = notation is Notation.SETTING or _fills_line(text, match, name_start)
    start, end = _span_of_value(match, is_whole=is_whole)
    value = text[start : min(end, start + _MAX_JUDGED_LENGTH)]
    assigned = Assigned(name, kind, value, following=text[end : end + 1])
    if not names.is_specific(name, value):
        return None
    if _IS_CREDENTIAL[notation](assigned) and _is_literal(assigned):
        return Candidate(name_start, start, _end_of_value(text, match, end, is_whole), kind)
    return None


def _start_of_name(text: str, match: re.Match[str]) -> int:
    noun, end = match.span("noun")
    spoken = names.SPOKEN.search(text, max(0, noun - names.MAX_FIRST_WORD_LENGTH - 1), end)
    if spoken:
        return spoken.start()
    before = text[max(0, noun - names.MAX_NAME_LENGTH) : noun]
    head = before.rstrip(_NAME_CHARACTERS)
    start = noun - len(before) + len(head)
    is_escape = head.endswith("\\") and before[len(head) :].startswith(("n", "r", "t"))
    return start + 1 if is_escape else start


def _span_of_value(match: re.Match[str], *, is_whole: bool) -> tuple[int, int]:
    if match["quote"]:
        return match.span("quoted")
    start, end = match.span("bare")
    if is_whole:
        return start, start + len(_without_closing(match["bare"]))
    cut = _END_OF_BARE.search(match["bare"])
    return start, start + cut.start() if cut else end


def _without_closing(value: str) -> str:
    """Return it without the brackets and commas behind it that it does not open itself."""
    while value and value[-1] in _CLOSING:
        opening = _OPENING.get(value[-1])
        if opening and value.count(opening) >= value.count(value[-1]):
            break
        value = value[:-1]
    return value


def _fills_line(text: str, match: re.Match[str], name_start: int) -> bool:
    """Return whether the entry is alone in its line, as in YAML: no `,` or `&` ends its value."""
    if match["operator"].strip() != ":" or match["quote"] or _CALL.match(match["bare"]):
        return False
    ends_line = _END_OF_ENTRY.match(text, match.end("bare")) is not None
    before = text[max(0, name_start - 61) : name_start]
    starts_line = name_start == len(before) or "\n" in before
    return ends_line and starts_line and _BEFORE_ENTRY.search(before) is not None


def _end_of_value(text: str, match: re.Match[str], judged_end: int, is_whole: bool) -> int:
    """Return where the whole value ends, if only its beginning was judged."""
    if judged_end != match.end("bare"):
        return judged_end
    rest = _REST_OF_BARE.match(text, judged_end)
    end = rest.end() if rest else judged_end
    rest = _REST_OF_SETTING.match(text, end) if is_whole else None
    return rest.end() if rest else end


def _is_literal(assigned: Assigned) -> bool:
    """Return whether there is a value: not a placeholder, a path or the name repeated."""
    if literals.is_placeholder(assigned.value) or literals.is_location(assigned.value):
        return False
    own_name = _letters_and_digits(assigned.value)
    return not (own_name and _letters_and_digits(assigned.name).endswith(own_name))


def _letters_and_digits(value: str) -> str:
    return "".join(filter(str.isalnum, value)).lower()


def _is_quoted_credential(assigned: Assigned) -> bool:
    if assigned.kind == "password":
        return not literals.reads_as_prose(assigned.value)
    return " " not in assigned.value and _is_random_enough(assigned)


def _is_entry_credential(assigned: Assigned) -> bool:
    """Return whether the value is a credential: any value but a sentence or a credential's name."""
    value = assigned.value
    if assigned.kind == "password":
        return not literals.reads_as_prose(value)
    is_name = value.isidentifier() and names.kind_of(value) is not None
    is_long_enough = len(value) >= _MIN_LENGTHS[assigned.kind]
    return is_long_enough and " " not in value and not (is_name or literals.is_code(value))


def _is_set_credential(assigned: Assigned) -> bool:
    is_argument = assigned.following in (",", ")", "}") and not any(
        map(str.isdigit, assigned.value)
    )
    if is_argument or _is_call(assigned) or _is_name_of_credential(assigned):
        return False
    return assigned.kind == "password" or len(assigned.value) >= 6


def _is_bare_credential(assigned: Assigned) -> bool:
    value = assigned.value
    if names.is_vague(assigned.name) and not literals.is_dense(value):
        return False
    if _is_expression(assigned):
        return False
    if assigned.kind == "password":
        return literals.is_mixed(value) or (value.isdigit() and len(value) >= 6)
    return _is_random_enough(assigned)


def _is_paired_credential(assigned: Assigned) -> bool:
    if assigned.kind != "password" or len(assigned.value) < _MIN_PASSWORD_LENGTH_IN_PAIR:
        return _is_bare_credential(assigned)
    return not _is_expression(assigned)


def _is_spoken_credential(assigned: Assigned) -> bool:
    """Whether a password follows its name as no word, date or version does."""
    return assigned.kind == "password" and literals.is_dense(assigned.value)


def _is_expression(assigned: Assigned) -> bool:
    value = assigned.value
    is_call = value.isidentifier() and assigned.following in ("(", "[")
    return is_call or literals.is_code(value) or names.is_mentioned_in(value)


def _is_call(assigned: Assigned) -> bool:
    """Return whether it is a call; one that is not closed goes on behind the value."""
    call = _CALL.match(assigned.value)
    is_cut = assigned.following not in ("", "\n", "\r")
    return call is not None and (call["rest"] in ("", None) or ")" in call["rest"] or is_cut)


def _is_name_of_credential(assigned: Assigned) -> bool:
    return literals.is_code(assigned.value) and names.is_mentioned_in(assigned.value)


def _is_random_enough(assigned: Assigned) -> bool:
    value = assigned.value
    is_random = literals.looks_random(value) or literals.is_noisy(value)
    return len(value) >= _MIN_LENGTHS[assigned.kind] and is_random


_IS_CREDENTIAL = {
    Notation.QUOTED: _is_quoted_credential,
    Notation.ENTRY: _is_entry_credential,
    Notation.SETTING: _is_set_credential,
    Notation.PAIR: _is_paired_credential,
    Notation.BARE: _is_bare_credential,
    Notation.SPOKEN: _is_spoken_credential,
}
