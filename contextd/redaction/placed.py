"""Finds credentials that the place they stand in gives away: addresses, headers, commands."""

import base64
import binascii
import re
from collections.abc import Iterator

from contextd.redaction.candidates import Candidate, secret_of
from contextd.redaction.literals import is_mixed, is_placeholder, looks_random

_URL_PASSWORD = re.compile(
    r"://[^\s/?#@:\"'<>`\[\]\\]{0,256}+:"
    r"(?P<secret>[^\s/?#@\"'<>`\[\]\\]{1,256}+(?:@[^\s/?#@\"'<>`\[\]\\:]{1,256}+(?=@)){0,3}+)@"
)
_PORT = re.compile(r"\d{1,5}[,;)|]")
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9._~+/=|:-]{6,4096}+)"
_AUTHORIZATION = re.compile(
    r"authorization\\?[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\?[\"']?"
    rf"(?P<scheme>bearer|basic|token|apikey|api-key|key)(?:[ \t]{{1,4}}|%20){_CREDENTIALS}",
    re.IGNORECASE,
)
_BEARER = re.compile(rf"\bbearer[ \t]{{1,4}}{_CREDENTIALS}", re.IGNORECASE)
_CURL_USER = re.compile(
    r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?\\?[\"']?[^\s:\"']{1,100}:(?P<secret>[^\s\"'\\]{1,256})"
)
_CLIENT_PASSWORD = re.compile(
    r"\b(?:(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n]{0,200}?\s-p"
    r"|sshpass -p ?|redis-cli\b[^\n]{0,200}?\s-a )"
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]{1,256})(?P=quote)|(?P<bare>[^\s\"'-][^\s\"']{0,256}))"
)
_SQL_PASSWORD = re.compile(
    r"\b(?:(?:with|encrypted|set)[ \t]+password(?:[ \t]*=)?|identified[ \t]+by)[ \t]+"
    r"'(?P<secret>[^'\n]{1,256})'",
    re.IGNORECASE,
)


def url_passwords(text: str) -> Iterator[Candidate]:
    for match in _URL_PASSWORD.finditer(text):
        secret = match["secret"]
