"""Distinguishes literal credentials from what replaces them: masks, templates, prose, code."""

import re

_TEMPLATE = re.compile(
    # ${X} $(x) $[x] {{ x }} <% x %> %(x)s #{x} @{x} ENC[x]
    r"\$\{[^{}]*(?:\}|\{|\Z)|\$\[[^\]]*(?:\]|\Z)|\$\([\w\s./:@|'\"~<>$-]*(?:\)|\Z)"
    r"|\{\{(?:\s|\Z|[^{}]+\}\})|<%[ =]|%\(\w*(?:\)|\Z)|[#@]\{[^{}]*(?:\}|\Z)|ENC\["
    # $X %X% %s :x <x> !vault
    r"|\A(?:\$[\w:]+|%(?:[A-Za-z_]+|[A-Z0-9_]+)%|%[sdrv]|:[A-Za-z_]+\d?|<[^<>]*>)\Z"
    r"|\A!(?:vault|secret|env|env_var|var|file|include|reference|encrypted|cipher"
    r"|Ref|Sub|GetAtt|Join|ImportValue|If|Select)\b"
    r"|\{[\w.!\[\]:]{0,64}\}|\[[^\]\s]{0,64}\w-\w[^\]\s]{0,64}\]"  # {x} [a-z]
)
_MASK = re.compile(r"[\W_]+|[xX]{2,}")
_BLOTTED_OUT = re.compile(r"\.\.\.|…|\*\*\*|[xX]{4}")
_PLACEHOLDER_WORD = re.compile(
    r"(?<![a-z])(?:yours?|change(?:me|it|this)?|placeholder|replace(?:me)?|insert|dummy|redacted"
    r"|removed|hidden|masked|todo|tbd|fixme|example|sample|fake|mock(?:ed)?)(?![a-z])",
    re.IGNORECASE,
)
# What stands beside such a word in a placeholder.
_VACUOUS_WORD = re.compile(
    r"api|key|token|password|passwd|secret|here|value|user|db|my|name|the|in|with|real|own|please"
    r"|abc|xyz|\d+",
    re.IGNORECASE,
)
_TYPE_OR_STATE = re.compile(
    r"(?:none|null|nil|undefined|true|false|yes|no|on|off|str|string|text|bytes|any|int|integer"
    r"|bool|boolean|object|char|varchar|required|optional|missing|invalid|empty|unset|blank)[!?.,]*",
    re.IGNORECASE,
)
_FUNCTION_WORD = re.compile(
    r"\b(?:an?|the|is|are|was|be|must|not?|for|to|of|in|on|and|or|your?|please|enter|with|this|that"
    r"|has|have|does|too|it|required?|minimum|maximum|characters|least|most)\b",
    re.IGNORECASE,
)
_TECHNICAL = re.compile(
    r"(?:sha|md|base|utf|argon|aes|rsa|oauth|pbkdf|pkcs|http|ipv?|u?int|float|bytes|varchar|[uiv])"
    r"-?\d+(?:[_-]\w*)?|(?:ed|x|curve)25519|secp\d{3}[kr]1|[ehpr]s\d{3}k?|\d{1,4}-?(?:bit|byte|char|character|digit|letter|word|day|hour)s?"
    r"|0x[0-9a-f]{1,16}",
    re.IGNORECASE,
)
_DIGITS_AND_SIGNS = frozenset("0123456789!@#$%^+~")
_SIGNS = frozenset("!@#$%^&*(=+)")
_CODE_SIGNS = frozenset(" []{}\\")
_MIN_NOISE_LENGTH = 40  # characters
_MIN_SIGNS = 4
_MIN_PASSPHRASE_WORDS = 4
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_WORD_OR_NUMBER = re.compile(r"[A-Za-z]*|v?\d+|[A-Za-z]{1,8}\d{1,4}|[A-Za-z]\d{1,2}[A-Za-z]")
_RUN = re.compile(r"[A-Za-z0-9]{8,}+")
_WORD_OR_DATE = re.compile(r"[A-Za-z]+\d{1,4}|\d{1,4}[A-Za-z]+|[A-Za-z]*(?:19|20)\d{6}T?\d*Z?")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@ -]++[/\\]?)*+")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://\S*|arn:\S*|SHA256:[\w+/=]*")
_DOTTED_NAME = re.compile(r"[A-Za-z_$]\w*+(?:(?:\.|::|->)[A-Za-z_]\w*+)++")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++")


def is_placeholder(value: str) -> bool:
    """Return whether it is a mask, a template or a word like `changeme`, not a credential."""
    if not value or _MASK.fullmatch(value) or _is_template(value):
        return True
    if is_blotted_out(value) or _TYPE_OR_STATE.fullmatch(value):
        return True
    return _PLACEHOLDER_WORD.search(value) is not None and not _has_own_part(value)


def _is_template(value: str) -> bool:
    """Return whether variables are the value, not braces among its digits and symbols."""
    found = _TEMPLATE.search(value)
    if found is None or not found[0].startswith(("{", "[", "%(")):
        return found is not None
    return not is_mixed(_TEMPLATE.sub("", value))


def _has_own_part(value: str) -> bool:
    """Return whether something with digits is left beside the words of a placeholder."""
    rest = _SEPARATORS.split(_PLACEHOLDER_WORD.sub(" ", value))
    is_own = any(word and not _VACUOUS_WORD.fullmatch(word) for word in rest)
    return is_own and any(map(str.isdigit, value))


def is_blotted_out(value: str) -> bool:
    """Return whether a part of a value is left out or overwritten: `sk-a1...`, `ghp_xxxx`."""
    return _BLOTTED_OUT.search(value) is not None


def is_location(value: str) -> bool:
    """Return whether a value is a path, an address or a fingerprint rather than a credential."""
    return bool(_ADDRESS.fullmatch(value) or (_PATH.fullmatch(value) and not looks_random(value)))


def reads_as_prose(value: str) -> bool:
    """Return whether a value with spaces is a sentence or a label, not a passphrase."""
    words = value.split()
    if len(words) < 2:
        return False
    is_label = value[0].isupper() and len(words) < _MIN_PASSPHRASE_WORDS and not is_mixed(value)
    return is_label or value.endswith(".") or _FUNCTION_WORD.search(value) is not None


def is_code(value: str) -> bool:
    """Return whether a value without quotes is a name in a program."""
    return bool(_DOTTED_NAME.fullmatch(value) or _CONSTANT.fullmatch(value))


def is_mixed(value: str) -> bool:
    """Return whether a value is not a plain word: it mixes digits or symbols with letters."""
    core = value.rstrip("!?.,:")
    if _TECHNICAL.fullmatch(core):
        return False
    return any(map(str.isalpha, core)) and not _DIGITS_AND_SIGNS.isdisjoint(core)


def looks_random(value: str) -> bool:
    """Return whether a value has letters and digits, and does not consist of words and numbers."""
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    parts = _SEPARATORS.split(value)
    if len(parts) == 1:
        return _TECHNICAL.fullmatch(value) is None
    return not all(_WORD_OR_NUMBER.fullmatch(part) or _TECHNICAL.fullmatch(part) for part in parts)


def is_noisy(value: str) -> bool:
    """Return whether a long value without spaces has many symbols, as Django's secret keys do."""
    if len(value) < _MIN_NOISE_LENGTH or not _CODE_SIGNS.isdisjoint(value):
        return False
    return sum(map(_SIGNS.__contains__, value)) >= _MIN_SIGNS


def is_dense(value: str) -> bool:
    """Return whether letters and digits are mixed as in no word, date or version."""
    return any(map(_is_dense, _RUN.findall(value)))


def _is_dense(run: str) -> bool:
    digits = sum(map(str.isdigit, run))
    is_word = _WORD_OR_DATE.fullmatch(run) or _TECHNICAL.fullmatch(run)
    return digits >= 2 and len(run) - digits >= 3 and not is_word
