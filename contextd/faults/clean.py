"""Remove what terminals, loggers and CI put around a text."""

import re

_ROUNDS = 3
_CODES = re.compile(
    r"\x1b_bk;t=\d{1,20}\x07|"  # Buildkite
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()#%][0-9A-Za-z]|[@-Z\\^_])?"
    r"|\x9b(?:[0-?]*[ -/]*[@-~])?"
    r"|(?:\\u001[bB]|\\x1[bB]|\\0?33|\^\[)\[[0-9;]{0,20}[A-Za-z]"  # an escape that was spelled out
    r"|\[(?:\d{1,3}(?:;\d{1,3}){0,8}m|[0-2]K)(?!\])"  # an escape that was lost on the way
    r"|section_(?:start|end):\d{1,12}:[\w.-]{1,100}(?:\[[^\]\n]{0,100}\])?\r?"  # GitLab
    r"|[\x00-\x08\x0e-\x1f\x7f\ufeff]"
)
_ERASED = re.compile(r"\r\x1b\[[0-2]?K|\x1b\[2K(?:\x1b\[1?G|\r)")

# Editors, chats and GNU tools print these for the plain ones that signatures are written with.
_QUOTES = str.maketrans(
    dict.fromkeys("\u00b4\u2018\u2019\u201a\u201b\uff07", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02", '"')
)
_ENTITIES = {
    **dict.fromkeys(("&#x27;", "&#39;", "&#039;", "&apos;"), "'"),
    **dict.fromkeys(("&#x22;", "&#34;", "&quot;"), '"'),
    "&lt;": "<",
    "&gt;": ">",
}
_ENTITY = re.compile("|".join(_ENTITIES))
# Terraform draws a line in front of what it says.
_FRAME = re.compile(r"^[\u2502\u2577\u2575](?:[ ]|$)", re.MULTILINE)

_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_STAMP = rf"\d{{2,4}}[-/]\d\d[-/]\d\d[T ]{_TIME}(?:[ ]?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_END = r"(?:[ ]|$)"
_THREADS = r"(?:\[[^\]\n]{0,200}\][ ]+)"
_LOGGER = r"[\w.$]{1,200}"
_REQUEST = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_AFTER_STAMP = (
    r"[ ]\d\d[OE](?:[ ]|\+|$)",  # GitLab
    rf"[ ](?:stdout|stderr)[ ][FP]{_END}",  # container runtimes
    rf"[ ]+\d+-\d+/\S+[ ][VDIWEFA]/[^:\n]{{1,80}}:{_END}",  # Android Studio
    r"[ ]+\d+-\d+[ ]+\S+[ ]+\S+[ ]+[VDIWEFA][ ]{2}",
    rf"[ ][\w.-]{{1,80}}[ ][\w./@-]{{1,80}}\[\d+\]:{_END}",  # journal
    rf"[ ](?:app|heroku)\[[\w.-]{{1,80}}\]:{_END}",
    r"[ ]\[\d+\][ ]",  # Postgres
    _END,
)
_LINE_PREFIXES = (
    rf"{_STAMP}(?:{'|'.join(_AFTER_STAMP)})",
    rf"\[{_STAMP}\](?:[ ]\[\d+\][ ]|[ ]|$)",  # gunicorn, Jenkins
    rf"\[{_TIME}\](?:[ ]|$)|{_TIME}{_END}",
    rf"[A-Z][a-z]{{2}}[ ]{{1,2}}\d{{1,2}}[ ]{_TIME}[ ](?:[\w.-]{{1,80}}[ ])?"
    rf"[\w./@-]{{1,80}}(?:\[\d+\])?:{_END}",  # syslog
    r"\[[ ]*\d{1,9}\.\d{6}\][ ]",  # kernel
    rf"\d\d-\d\d[ ]{_TIME}[ ]+\d+[ ]+\d+[ ][VDIWEFA][ ][^:\n]{{1,80}}:{_END}",  # logcat
    rf"[VDIWEFA]/[^:(\n]{{1,80}}\([ ]*\d+\):{_END}",
    rf"[IWEF]\d{{4}}[ ]{_TIME}[ ]+\d+[ ][\w.-]{{1,80}}:\d+\]{_END}",  # klog
    r"\#\#\[\w{1,20}\]|::(?:error|warning|notice|debug)(?:[ ][^:\n]{0,300})?::",  # GitHub
    rf"[A-Za-z][\w.-]{{0,80}}[_-]\d{{1,4}}[ ]+\|{_END}",  # Docker compose
    rf"\#\d{{1,4}}[ ]\d{{1,6}}\.\d{{1,3}}{_END}",  # Docker build
    rf"\[pod/[\w.-]{{1,253}}/[\w.-]{{1,63}}\]{_END}",  # kubectl
    rf"\[\d{{1,2}}\]{_END}",  # concurrently
    r"<br[ ]/>",  # PHP
    rf"\[\d\d-[A-Z][a-z]{{2}}-\d{{4}}[ ]{_TIME}[ ][\w/+-]{{1,40}}\]{_END}",  # PHP's error log
    rf"remote:{_END}",  # git push
    r">[ ]",  # a quotation
    r"[\u2502\u2577\u2575](?:[ ]|$)",  # Terraform, behind another prefix
)
# How loggers print a level; they are written once and used for loud and quiet levels alike.
_LEVEL_FORMS = (
    r"\[(?:{level})\][ ]\d+\#\d+:[ ](?:\*\d+[ ])?",  # nginx
    # Apache
    r"\[[A-Z][a-z]{{2}}[ ][A-Z][a-z]{{2}}[ ]{{1,2}}\d{{1,2}}[ ]{time}[ ]\d{{4}}\][ ]"
    r"\[(?:\w{{0,40}}:)?(?:{level})\][ ](?:\[(?:pid|client)[ ][^\n]{{1,80}}?\][ ]){{0,2}}",
    r"\[(?:{level})\][ ]+{stamp}[ ]+{request}[ ]+",  # AWS Lambda: Python
    r"[ ]*{request}[ ]+(?:{level})[ ]+",  # AWS Lambda: Node.js
    r"\[(?:{level})\][ ]?",  # Maven, Gradle
    r"(?:{level}):[\w.-]{{1,200}}:",  # Python
    r"(?:{level})[ ]+{logger}[ ]+(?=[A-Z]\w{{0,100}}(?:Error|Exception):[ ])",
    r"-[ ]{logger}[ ]-[ ](?:{level})[ ]-[ ]",
    r"\|[ ](?:{level})[ ]+\|[ ][^|\n]{{1,200}}?[ ]-[ ]",  # loguru
    r"\[{stamp}:[ ](?:{level})/[\w-]{{1,80}}\][ ]",  # Celery
    r"[A-Z],[ ]\[{stamp}[ ]\#\d+\][ ]+(?:{level})[ ]--[ ][^:\n]{{0,80}}:[ ]",  # Ruby
    r"(?:{level})[ ]+\d+[ ]---[ ]{threads}+[\w.$/\[\]-]{{1,200}}[ ]+:[ ]",  # Spring Boot
    r"{threads}?(?:{level})[ ]+{threads}*{logger}[ ]+-[ ]",  # log4j, logback
)


def _in_every_form(level: str) -> str:
    names = {
        "level": level,
        "stamp": _STAMP,
        "time": _TIME,
        "threads": _THREADS,
        "logger": _LOGGER,
        "request": _REQUEST,
    }
    return "|".join(form.format(**names) for form in _LEVEL_FORMS)


_QUIET = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|info|debug|warn|warning|notice"
_LOUD = "ERROR|FATAL|CRITICAL|SEVERE|error|fatal|crit|alert|emerg"
_DECORATION = re.compile(
    r"^(?=[\w\[\#:|><-][^\n]{2}|[\u2502\u2577\u2575])"  # what can begin one
    rf"(?:{'|'.join(_LINE_PREFIXES)}|{_in_every_form(_QUIET)})*+"
    rf"(?P<loud>{_in_every_form(_LOUD)})?+"
    r"(?<=[^\n])",  # something was there
    re.MULTILINE | re.VERBOSE,
)
_LEVEL_NAME = re.compile(_LOUD)
_JOB = re.compile(rf"^[^\t\n]{{1,200}}\t[^\t\n]{{1,200}}\t(?={_STAMP})", re.MULTILINE | re.VERBOSE)
# A service of Docker compose, which a table may look like unless a service says more than a line.
_SERVICE = re.compile(
    r"^([A-Za-z][\w.-]{0,80}[ ]{2,}\|)(?:[ ][^\n]*)?(?:\n\1(?:[ ][^\n]*)?)++$", re.MULTILINE
)


def clean(text: str) -> str:
    """Return the text without colours, progress, time stamps and log prefixes; lines stay lines.

    Typographic quotes become plain ones. An error's level stays in front of its message, as in
    `ERROR: disk is full`. Cleaning twice changes nothing more.
    """
    plain = _with_plain_quotes(_without_codes(_without_erased(text)))
    if "\t" in plain:
        plain = _JOB.sub("", plain).replace("\t", "    ")
    undecorated = _DECORATION.sub(_level, _without_overwritten(plain))
    for _ in range(_ROUNDS if "  |" in undecorated else 0):
        if (bare := _SERVICE.sub(_without_service, undecorated)) == undecorated:
            break
        undecorated = _DECORATION.sub(_level, bare)
    return "\n".join(line.rstrip() for line in undecorated.split("\n"))


def clean_records(text: str) -> str:
    """Return the cleaned text, with an empty line where records resume after unprefixed lines.

    Such lines are those of a trace; what comes after them is no part of its message.
    """
    printed, cleaned = _with_plain_quotes(text).replace("\t", "    "), clean(text)
    if printed == cleaned:
        return cleaned
    records: list[str] = []
    was_begun = True
    for whole, line in zip(printed.split("\n"), cleaned.split("\n"), strict=True):
        is_begun = not whole.lstrip().startswith(line.lstrip()[:20])
        records += ["", line] if is_begun and not was_begun else [line]
        was_begun = is_begun
    return "\n".join(records)


def _with_plain_quotes(text: str) -> str:
    """Replace HTML entities too, if the text has no plain quotes beside them."""
    plain = text if text.isascii() else _FRAME.sub("", text.translate(_QUOTES))
    if "&" not in plain or "'" in plain or '"' in plain:
        return plain
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], plain)


def _without_erased(text: str) -> str:
    if "\x1b" not in text:
        return text
    return "\n".join(_ERASED.split(line)[-1] for line in text.split("\n"))


def _without_overwritten(text: str) -> str:
    """Keep the longest of what was written over the same line; of equally long, the last."""
    lines = [line.rstrip() for line in text.split("\n")]
    if "\r" in text:
        lines = [max(reversed(line.split("\r")), key=len).rstrip() for line in lines]
    return "\n".join(lines)


def _without_codes(text: str) -> str:
    """Remove escape codes again and again, since removing one may join the halves of another."""
    for _ in range(_ROUNDS):
        plain = _CODES.sub("", text)
        if plain == text:
            return text
        text = plain
    return _CODES.sub(" ", text)


def _without_service(lines: re.Match[str]) -> str:
    return "\n".join(line.removeprefix(lines[1])[1:] for line in lines[0].split("\n"))


def _level(decoration: re.Match[str]) -> str:
    loud = decoration["loud"]
    level = _LEVEL_NAME.search(loud) if loud else None
    return f"{level[0]}: " if level else ""
