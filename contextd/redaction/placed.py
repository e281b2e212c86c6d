"""Finds credentials by their place in a text: in addresses, headers and commands."""

import base64
import re
from collections.abc import Iterator

from contextd.redaction.candidates import Candidate, Rule
from contextd.redaction.literals import is_dense, is_mixed, is_placeholder, looks_random


def placed_credentials(text: str) -> Iterator[Candidate]:
    for rule in _RULES:
        yield from rule.find(text)


def cookies(text: str) -> Iterator[Candidate]:
    if "ookie" not in text and "OOKIE" not in text:
        return
    for header in _COOKIE_HEADER.finditer(text):
        for match in _COOKIE.finditer(text, *header.span("cookies")):
            if looks_random(match["secret"]):
                yield Candidate(match.start(), *match.span("secret"), "cookie")


def _is_url_password(value: str) -> bool:
    return not (is_placeholder(value) or _SHOUTED.fullmatch(value) or _PORT.match(value))


def _is_authorization(value: str) -> bool:
    if is_placeholder(value):
        return False
    return is_mixed(value) or _is_user_and_password(value)


def _is_user_and_password(value: str) -> bool:
    """Return whether a value is what the Basic scheme sends, even if it looks like a word."""
    try:
        decoded = base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _is_long_and_random(value: str) -> bool:
    return len(value) >= 16 and looks_random(value)


def _is_literal(value: str) -> bool:
    return not (is_placeholder(value) or _PORTS.fullmatch(value))


_SHOUTED = re.compile(r"[A-Z_]+")  # postgres://USER:PASSWORD@HOST
_PORT = re.compile(r"\d{1,5}[,;)|]")  # http://one:80,http://two:80 me@home
_PORTS = re.compile(r"\d{1,5}:\d{1,5}")  # docker run mysql -p3306:3306
# A credential is matched without being consumed: another one may begin within it.
_VALUE = r"(?=(?P<secret>[A-Za-z0-9._~+/=|:-]{6,4096}+))"
_OPEN = r"\\?[\"']?"
_ARGUMENT = rf"{_OPEN}(?=(?P<secret>[^\s\"'\\-][^\s\"'\\]{{0,256}}))"
_COOKIE_HEADER = re.compile(
    rf"\bcookie{_OPEN}[ \t]?:[ \t]?(?P<cookies>[^\n]{{1,4096}})", re.IGNORECASE
)
_COOKIE = re.compile(r"=(?P<secret>[A-Za-z0-9._~+/%|:-]{12,1024}+)")
_RULES = (
    Rule(
        "url-password",
        ("://",),
        re.compile(
            r"://[^\s/?#@:\"'<>`\[\]\\]{0,256}+:"
            r"(?=(?P<secret>[^\s/?#@\"'<>`\[\]\\]{1,256}+"
            r"(?:@[^\s/?#@:\"'<>`\[\]\\]{1,256}+(?=@)){0,3}+)@)"  # an unescaped @ inside
        ),
        _is_url_password,
    ),
    Rule(
        "authorization",
        ("uthorization", "UTHORIZATION"),
        re.compile(
            rf"\bauthorization{_OPEN}[ \t]{{0,4}}[:=,][ \t]{{0,4}}{_OPEN}"
            rf"(?:bearer|basic|token|api-?key)(?:[ \t]{{1,4}}|%20){_VALUE}",
            re.IGNORECASE,
        ),
        _is_authorization,
    ),
    Rule(
        "authorization",
        ("uthorization", "UTHORIZATION", "earer", "EARER"),
        re.compile(
            rf"\b(?:bearer[ \t]{{1,4}}|authorization{_OPEN}[ \t]?[:=][ \t]?{_OPEN}){_VALUE}",
            re.IGNORECASE,
        ),
        _is_long_and_random,
    ),
    Rule(
        "authorization",  # .npmrc, .docker/config.json
        ("auth",),
        re.compile(
            rf"(?<![A-Za-z0-9])_?auth{_OPEN}[ \t]?[:=][ \t]?{_OPEN}"
            r"(?=(?P<secret>[A-Za-z0-9+/]{8,4096}+={0,2}))"
        ),
        _is_user_and_password,
    ),
    Rule(
        "password",
        ("curl",),
        re.compile(
            rf"\bcurl\b[^\n]{{0,300}}?\s(?:-u|--user)[ =]?{_OPEN}[^\s:\"'\\]{{1,100}}:"
            r"(?=(?P<secret>[^\s\"'\\]{1,256}))"
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("mysql", "mariadb"),
        re.compile(
            r"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n]{0,200}?\s-p" + _ARGUMENT
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("redis-cli",),
        re.compile(r"\bredis-cli\b[^\n]{0,200}?\s-a " + _ARGUMENT),
        _is_literal,
    ),
    Rule(
        "password",
        (" login", "mongo"),
        re.compile(
            r"\b(?:(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc|cf)"
            r"\b[^\n]{0,40}?\slogin|mongo(?:sh|dump|restore|export|import)?)"
            r"\b[^\n]{0,200}?\s-p[ =]" + _ARGUMENT
        ),
        _is_literal,
    ),
    Rule(
        "password",  # .netrc
        ("machine",),
        re.compile(
            r"\bmachine\s{1,20}(?!learning)\S{1,256}\s{1,20}login\s{1,20}\S{1,256}\s{1,20}"
            r"(?:account\s{1,20}\S{1,256}\s{1,20})?password\s{1,20}(?=(?P<secret>[^\s\"'\\]{1,256}))"
        ),
        _is_literal,
    ),
    Rule(
        "signature",  # in signed URLs: Azure, AWS, Google
        ("sig=", "-Signature="),
        re.compile(
            r"(?:[?&;]|\\u0026)(?:sig|X-(?:Amz|Goog)-Signature)="
            r"(?=(?P<secret>[A-Za-z0-9%+/=_-]{20,1024}+))"
        ),
        _is_long_and_random,
    ),
    Rule(
        "password",  # redis.conf, ldap.conf, slapd.conf
        ("requirepass", "masterauth", "bindpw", "rootpw"),
        re.compile(
            r"(?m)^[ \t]{0,20}(?:requirepass|masterauth|bindpw|rootpw)[ \t]{1,20}"
            + _ARGUMENT
            + r"(?=\S{1,257}[ \t]{0,20}$)"
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("SecureString",),
        re.compile(
            r"\bConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?[\"']"
            r"(?=(?P<secret>[^\n\"']{1,256})[\"'])"
        ),
        _is_literal,
    ),
    Rule(
        "password",  # keytool
        ("storepass", "keypass"),
        re.compile(r"\s-(?:src|dest)?(?:storepass|keypass)[ \t]{1,4}" + _ARGUMENT),
        _is_literal,
    ),
    Rule(
        "password",
        ("sqlcmd",),
        re.compile(r"\bsqlcmd\b[^\n]{0,200}?\s-P ?" + _ARGUMENT),
        _is_literal,
    ),
    Rule(
        "password",
        ("chpasswd",),
        re.compile(
            rf"\becho[ \t]{{1,4}}{_OPEN}[^\s:\"']{{1,64}}:"
            r"(?=(?P<secret>[^\s\"'|]{1,256}+)[\"']?[ \t]{0,4}\|"
            r"[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd)"
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("--password-stdin",),
        re.compile(
            rf"\becho[ \t]{{1,4}}{_OPEN}"
            r"(?=(?P<secret>[^\s\"'|]{1,256}+)[\"']?[ \t]{0,4}\|[^\n|]{0,200}--password-stdin)"
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("jdbc:oracle",),
        re.compile(r"\bjdbc:oracle:\w{1,8}:[^\s/@:\"']{1,64}/(?=(?P<secret>[^\s/@\"']{1,256})@)"),
        _is_literal,
    ),
    Rule(
        "password",
        ("sqlplus",),
        re.compile(
            r"\bsqlplus[ \t]{1,4}(?:-[A-Za-z][ \t]{1,4})?[^\s/@:\"']{1,64}/"
            r"(?=(?P<secret>[^\s/@\"']{1,256})@)"
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("htpasswd",),
        re.compile(
            r"\bhtpasswd[ \t]{1,4}(?:-[A-Za-z]{1,8}[ \t]{1,4}){0,4}-[A-Za-z]{0,8}b[A-Za-z]{0,8}"
            r"(?:[ \t]{1,4}-[A-Za-z]{1,8}){0,4}[ \t]{1,4}\S{1,256}[ \t]{1,4}\S{1,256}[ \t]{1,4}"
            + _ARGUMENT
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("smbclient",),
        re.compile(
            rf"\bsmbclient\b[^\n]{{0,200}}?\s(?:-U[ =]?|--user=){_OPEN}[^\s%\"'\\]{{1,100}}%"
            r"(?=(?P<secret>[^\s\"'\\]{1,256}))"
        ),
        _is_literal,
    ),
    Rule(
        "password",
        ("ldap",),
        re.compile(
            r"\bldap(?:search|add|modify|delete|passwd|whoami)\b[^\n]{0,200}?\s-w ?" + _ARGUMENT
        ),
        _is_literal,
    ),
    Rule(
        "password",  # wpa_supplicant.conf
        ("psk=",),
        re.compile(r"(?m)^[ \t]{0,20}psk=(?=\"?(?P<secret>[^\n\"]{8,64}+)\"?[ \t]{0,20}$)"),
        _is_literal,
    ),
    Rule(
        "authorization",
        ("Basic ", "basic "),
        re.compile(r"\b[Bb]asic[ ](?=(?P<secret>[A-Za-z0-9+/]{8,4096}+={0,2}))"),
        _is_user_and_password,
    ),
    Rule(
        "api-key",
        ("?key=", "&key="),
        re.compile(r"[?&]key=(?=(?P<secret>[A-Za-z0-9_-]{16,256}+))"),
        is_dense,
    ),
    Rule("password", ("sshpass",), re.compile(r"\bsshpass -p ?" + _ARGUMENT), _is_literal),
    Rule(
        "password",
        ("create", "CREATE", "Create", "alter", "ALTER", "Alter", "grant", "GRANT", "Grant"),
        re.compile(
            r"\b(?:(?:create|alter)\s+(?:user|role|login)|grant)\b[^;]{0,200}?"
            r"\b(?:password|identified\s+by)[\s=]{1,4}'(?=(?P<secret>[^'\n]{1,256})')",
            re.IGNORECASE,
        ),
        _is_literal,
    ),
)
