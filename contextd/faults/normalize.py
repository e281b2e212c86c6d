"""Remove from a text what differs from run to run, so that the same error reads the same."""

import re

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_TIME = (
    r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:[ ]?[AaPp][Mm])?(?:[ ]?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
)
_UNIT = r"(?:ns|us|\u00b5s|ms|s|m|h|d|%|[kKMGT]i?B?|B)"
_LONG_UNIT = (
    r"(?:ns|us|\u00b5s|ms|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|[kKMGT]i?B|bytes?|%)"
)

# Numbers that name an error are the ones worth keeping.
_CODE_NAMES = r"""(?i:
    exit(?:ed)?(?:[ ]with)?(?:[ _-]?(?:code|status|value))?
  | (?:(?:exit|return|result|reason|response|status|error|err|vendor|native|sql)[ _-]?)?code
  | (?:http[ _-]?)?status(?:[ _-]?code)?
  | errno|err(?:or)?[ _-]?(?:no|num|number)|os[ ]error|winerror|signal|sql[ ]?state
  | http(?:/\d(?:\.\d)?)?
) | rc"""
WINDOWS_CODE = r"0x(?:8[08aA]|[cC]0)[0-9a-fA-F]{6}"
"""What HRESULT and NTSTATUS look like; an address of 32 bits seldom does."""

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)"
_CODES = rf"""
    (?:{_CODE_NAMES})
        (?:[ ](?:is|of|was))?["']?[ ]{{0,20}}+[:=\[(]?+[ ]{{0,20}}+["']?
        (?:-?\d{{1,10}}|0x[0-9a-fA-F]{{1,8}})(?!\w)
  | SQLSTATE\[\w{{5}}\](?:[ ]\[\d{{1,6}})?
  | (?:ERROR|[Ee]rror|Msg)[ ]\#?(?:-?\d{{1,6}}(?:[ ]\([0-9A-Z]{{5}}\))?|0x[0-9a-fA-F]{{1,8}})(?!\w)
  | (?<=Error[ ])-?\d{{1,6}}(?!\w)
  | (?<=Error:[ ])\d{{1,6}}(?=[ ]\([A-Z])
  | (?<=ServerError:[ ])\d{{1,6}}(?!\w)
  | (?<=\()-?\d{{1,5}}(?=,[ ][bu]?["'][A-Z])  # Python's number and message
  | (?<=\#)\d{{4}}(?=[ ]-[ ][A-Z])  # MySQL
  | curl:[ ]\(\d{{1,3}}\)
  | class[ ]file[ ](?:major[ ])?version[ ]\d{{1,3}}(?:\.\d{{1,5}})?(?!\w)
  | (?:ERROR|FATAL|PANIC):[ ]{{1,2}}\d[0-9A-Z]{{4}}(?=:[ ])
  | error:[0-9A-F]{{8}}(?=:)
  | [45]\d\d(?=[ ]\(?(?:Client|Server|Bad|Unauthorized|Payment|Forbidden|Not|Method|Request
        |Conflict|Gone|Length|Precondition|Payload|Unsupported|Unprocessable|Too|Internal|Service
        |Gateway|(?i:time-?out|unauthorized|forbidden|conflict|not[ ]found|bad[ ]request
        |bad[ ]gateway|internal[ ]server|service[ ]unavailable|too[ ]many[ ]requests|error))\b)
  | (?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[ ]/?[A-Za-z_]\w{{0,100}}[ ][45]\d\d(?!\w)
  | (?<=:[ ])(?<!(?:port|line|size):[ ])(?<!(?:pid|PID):[ ])(?<!Exception:[ ])[45]\d\d$
  | (?:[Ff]ailed|[Rr]eturned|[Rr]espon(?:ded|se))(?:[ ]with)?:?[ ][(\[]?
        (?:[45]\d\d|-\d{{1,3}})(?!\w)
  | (?<=[ ]\()[45]\d\d(?=\))
  | (?:CVE-\d{{4}}-\d{{4,7}}|(?:[A-Z]{{2,4}}|ERROR)(?:-\d{{1,5}})+)(?!\w)
  | {WINDOWS_CODE}(?!\w)
  | E0434352(?!\w)  # an exception of .NET
"""
_VARYING = rf"""
    (?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{{0,6}},?[ ])?
        (?:{_MONTH}[ ]{{1,2}}\d{{1,2}}|\d{{1,2}}[ ]{_MONTH})(?:,?[ ]\d{{4}})?(?:[ ]{_TIME})?(?!\w)
  | tmp(?:(?=[a-z]*[0-9_])[a-z0-9_]{{8}}|\.[A-Za-z0-9]{{6,12}})(?!\w)
  | (?:at[ ])?0x[0-9a-fA-F]+(?!\w)
  | {_UUID}
  | (?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,64}}(?!\w)
  | (?=[A-F]*\d)(?=\d*[A-F])[0-9A-F]{{8,64}}(?!\w)
  | (?=(?:[A-Za-z]*\d){{3}})[A-Za-z0-9]{{20,}}(?!\w)
  | \[?(?=[a-f:]{{0,20}}\d)(?:[0-9a-f]{{0,4}}:){{2,7}}[0-9a-f]{{0,4}}(?:%\w+)?
        (?:\](?::\d{{1,5}})?)?(?!\w)
  | \d{{4}}[-/.]\d\d?[-/.]\d\d?(?:[T ]{_TIME})?(?!\w)
  | \d\d?[/.]\d\d?[/.]\d{{4}}(?:,?[ ]{_TIME})?(?!\w)
  | \d\d?:\d\d(?::\d\d)?[ ]?[AaPp][Mm](?!\w)
  | (?:\d+(?:[.,]\d+)*{_UNIT})+(?!\w)
  | [-+]?\d+(?:[.,]\d+)*[ ]?{_LONG_UNIT}(?!\w)
  | [-+]?\d++(?:[.,:/-]\d++){{0,9}}+(?!\w)
"""
# What hangs on a word: a port or line, the number of a thread, an object's address.
_SUFFIXES = r"""
    (?<=[\w)\]]):\d++(?:[:.-]\d++){0,4}+(?!\w)
  | (?<=[a-z])-[0-9a-f]{8,10}-[a-z0-9]{5}(?!\w)
  | (?<=[A-Z]{5})-\d++(?!\w)
  | (?<=[A-Z])-\d{6,}+(?!\w)
  | (?<=[a-z])[-\#]\d++(?:\.\d++){0,4}+(?!\w)
  | (?<=[\w\]>;])@[0-9a-f]{5,16}(?!\w)
  | (?<=[\w.])\${1,2}(?:Proxy)?[0-9a-f]{0,16}\d[0-9a-f]{0,16}(?![a-z])(?:/0x[0-9a-f]+)?
  | ::h[0-9a-f]{16}(?!\w)
"""
_TOKENS = re.compile(
    rf"(?<![\w.])(?=[\w\[:+-])(?:(?P<code>(?!{_UUID})(?:{_CODES}))|(?P<varying>{_VARYING}))"
    rf"|(?=[-:\#@$])(?:{_SUFFIXES})",
    re.VERBOSE | re.MULTILINE,
)
_FOLDERS = re.compile(
    r"(?<![\w.:/\\<~*$)}@+%-])(?:file:/{0,3})?"
    r"(?:(?:[A-Za-z]:|~)?/(?:[\w.@+~$%-]++/++)+|[A-Za-z]:\\{1,2}(?:[\w.@+~$%-]++\\{1,2})*)"
    r"(?=[\w.<-])"
)
_QUOTES = str.maketrans("`\u00b4\u2018\u2019\t", "'''' ")


def normalize(text: str) -> str:
    """Return the text without addresses, ids, folders, numbers and times; error codes stay.

    Repeats until nothing changes, so the result is idempotent. A text that would lose all its
    words is returned unchanged.
    """
    masked, rest = text, _masked(text)
    while masked != rest:
        masked, rest = rest, _masked(rest)
    return rest if re.search(r"\w", rest) else text.strip()


def _masked(text: str) -> str:
    text = _FOLDERS.sub("", text.translate(_QUOTES))
    text = _TOKENS.sub(_kept, text)
    text = re.sub(r" {2,}", " ", text)
    return re.sub(r" ?\n[ \n]*", "\n", text).strip()


def _kept(token: re.Match[str]) -> str:
    if code := token["code"]:
        return code
    return " " if token["varying"] else ""
