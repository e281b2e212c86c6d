"""Placeholders of checks and fixes, such as `{port}`, and the values that an error has for them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

MAX_VALUE_LENGTH = 200
MIN_DISTINCT_LENGTH = 3
_SAFE = re.compile(r"(?!-)[\w@./:+-]+(?:==[\w.+-]+)?", re.ASCII)
_VALUE = r"([\w@./][\w@./:+-]*)"
_EXTENSIONS = (
    "c|cc|cfg|conf|cpp|crt|cs|css|csv|db|env|go|gz|h|hpp|html|ini|jar|java|js|json|jsx|key|lock|"
    "log|mjs|pem|php|py|rb|rs|sh|sql|sqlite3?|svg|tf|tfstate|tgz|toml|ts|tsx|txt|vue|xml|ya?ml|zip"
)
_IP = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}"
_QUOTE = "[\"'`]"


def _named(words: str, value: str = r"([\w.-]*\w)") -> str:
    """Find a quoted value after one of the words."""
    return rf"(?i)(?<![\w./-])(?:{words})(?: named?)?[ :=]+{_QUOTE}{value}{_QUOTE}"


def _after(words: str) -> tuple[str, str]:
    """Find a quoted value after one of the words, or one that is assigned to it."""
    return _named(words, _VALUE), rf"(?i)(?<![\w./-])(?:{words})={_VALUE}"


NAMES: Mapping[str, Sequence[str]] = {
    # The network
    "port": (
        r"(?i)\bport[ =:]+(\d{1,5})\b",
        rf"(?:{_IP}|\blocalhost|\]|:::?|\*):(\d{{2,5}})\b",
        r"://(?:[^/\s@]*@)?[^/\s:@]+:(\d{2,5})\b",
        r"\b(?:tcp|udp) [\w.-]*:(\d{2,5})\b",
        r"\bECONNREFUSED [\w.-]+:(\d{2,5})\b",
    ),
    "host": (
        rf"({_IP})(?![\w.])",
        r"://(?:[^/\s@]+@)?([A-Za-z][\w.-]*\w)",
        r"(?i)\bhost(?:name)?(?:[=:] *|[ =:]+[\"'`])([\w.-]*\w)",
        r"(?i)connect to ([\w.-]*\w)(?: port|:)",
        r"\b(?:tcp|udp) ([A-Za-z][\w.-]*):\d",
        r"\bE\w+ ([A-Za-z][\w.-]*):\d{2,5}\b",
        r"\bENOTFOUND ([\w.-]*\w)",
        r"\blookup ([\w.-]*\w) on ",
        r"\bUnknownHostException: ([\w.-]*\w)",
        r"\bcan't find ([\w.-]*\w): NXDOMAIN",
        r"\bHTTP_HOST header: '([\w.-]*\w)",
        r"\bfatal: \[([A-Za-z][\w.-]*)\]:",
    ),
    "address": (rf"({_IP}(?::\d{{2,5}})?)(?![\w.])",),
    "domain": (),
    "url": (r"(https?://[\w@./:+-]*[\w/])",),
    "origin": (r"from origin '(https?://[\w.:-]*\w)'",),
    "user": _after("user(?:name)?|login"),
    "password": (),
    "certificate": (),
    "private_key": (),
    "authority": (),
    # Files and processes
    "file": (
        rf"(?<!File ){_QUOTE}((?:[\w@.+-]*/)+[\w@.+-]*\w){_QUOTE}",
        rf"(?<!File ){_QUOTE}([\w@+-][\w@.+-]*\.(?:{_EXTENSIONS})){_QUOTE}",
        r"(?m)^([\w./-]+\.\w{1,5}):\d+(?::\d+)?: (?:fatal )?error",
        r"output started at (/[\w./-]+):\d+",
    ),
    "folder": (
        *_after("director(?:y|ies)|folder|dir|mount point|repository at|path"),
        r"cannot access '(/[\w./-]+)': Stale",
    ),
    "log": (),
    "pid": (r"(?i)(?<!our )\b(?:pid|process(?: id)?)\b[ =:#(]*(\d{1,7})\b",),
    "unit": (r"(?<![\w@.-])([\w@.-]+\.service)\b",),
    "command": (
        *_after("command|executable"),
        r"(?:^|[\s:])([\w.+-]+): (?:command )?not found",
        r"command not found: ([\w.+-]+)",
    ),
    "program": (),
    "script": _after("script"),
    "variable": (*_after("(?:environment )?variable"), r"'(\w+)' is undefined"),
    "text": (),
    "line": (r"(?m)^\w*[Mm]akefile:(\d+): ",),
    # Containers and clusters
    "image": (
        *_after("image"),
        r"access denied for ([\w./:-]*\w)",
        r"manifest for ([\w./:-]*\w) not found",
        r"failed to solve: ([\w./-]+:[\w.-]*\w):",
    ),
    "registry": (),
    "container": (*_after("container"), rf"container name {_QUOTE}/([\w.-]+){_QUOTE}"),
    "pod": (_named("pods?"), r"\bpods?/([\w.-]*\w)"),
    "namespace": (*_after("namespaces?"), r"\bnamespaces?/([\w.-]*\w)"),
    "node": (*_after("nodes?"), r"\bnodes?/([\w.-]*\w)"),
    "service": (_named("services?"), r"\b(?:service|svc)s?/([\w.-]*\w)"),
    "claim": _after("(?:persistentvolume)?claims?|pvc"),
    "volume": (*_after("volume"), r"\b(pvc-[\w-]*\w)"),
    "cluster": _after("cluster"),
    "release": _after("release"),
    "kind": (
        *_after("kind"),
        r"\b([A-Z]\w+) \"[\w.-]+\" in namespace",
    ),
    "name": (
        *_after("(?:configmap|secret|fixture|assembly|namespace name)s?"),
        r"\b[A-Z]\w+ \"([\w.-]+)\" in namespace",
        r"assembly '([\w.]+),",
        r"Reverse for '([\w-]+)'",
    ),
    "verb": (r"\bcannot (\w+) resource",),
    "resource": (
        *_after("resource(?: name)?"),
        r"on resource: \"?(arn:[\w:/.+-]*\w)",
    ),
    # Clouds and continuous integration
    "account": (r"serviceaccount:[\w-]+:([\w-]+)",),
    "action": (r"authorized to perform: ([\w-]+:\w+)",),
    "api": (r"\b([a-z]+\.googleapis\.com)\b",),
    "app_id": (),
    "arn": (r"\b(arn:aws[\w:/.+-]*\w)",),
    "bucket": _after("bucket"),
    "function": (
        *_after("function"),
        r"(?<![\w.])([A-Za-z_]\w*(?:\.\w+)*)\(\) (?:takes|got|missing)",
    ),
    "id": (r"(?m)^[ \t]*ID:[ \t]+([0-9a-f-]{36})\b", r"with 'id'=(\d+)"),
    "job": _after("job"),
    "message": (),
    "metric": _after("quota"),
    "object_id": (r"object id '([0-9a-f-]{36})'",),
    "prefix": (),
    "project": _after("project"),
    "provider": (*_after("provider|namespace"), r"\bprovider (?:[\w.]+\.\w+/)?([\w-]+/[\w-]+)"),
    "region": (*_after("region|location"), r"\bin region ([a-z]+-[a-z]+-?\d)\b"),
    "repository": (*_after("repository"), r"action `?([\w-]+/[\w.-]+)@"),
    "resource_id": _after("scope"),
    "role": _after("role"),
    "run_id": (),
    "scheme": _after("scheme"),
    "size": (),
    "subscription": _after("subscription"),
    "team_id": (),
    "tenant_id": (),
    # Databases and queues
    "database": (*_after("database|dbname|db"), r"\(`(\w+)`\.`\w+`, CONSTRAINT"),
    "table": (
        *_after("table|relation"),
        r"denied for (?:table|relation) (\w+)",
        r"\(`\w+`\.`(\w+)`, CONSTRAINT",
    ),
    "parent": (r"REFERENCES `(\w+)`", r"is not present in table \"(\w+)\""),
    "column": (*_after("column"), r"\bKey \((\w+)\)=", r"FOREIGN KEY \(`(\w+)`\)"),
    "constraint": _after("constraint"),
    "value": (r"Duplicate entry '([^']*)'", r"\bKey \(\w+\)=\(([^)]*)\)"),
    "word": (),
    "key": _after("key"),
    "index": _after("index"),
    "field": (*_after("field"), r"\bfield \[([\w.]+)\]"),
    "collection": (
        r"module/action '(\w+\.\w+)\.\w+'",
        r"\bcollection: \w+\.(\w+)",
    ),
    "broker": (),
    "topic": (*_after("topic"), r"\btopic(?:-partition)? ([\w.-]*\w)-\d+\b"),
    "group": _after("group"),
    "queue": _after("queue"),
    "vhost": _after("vhost"),
    # Code and its packages
    "package": (
        *_after("package|distribution"),
        r"No matching (?:version|distribution) found for (@?[\w./-]*\w)",
        r"satisfies the requirement ([\w.-]*\w)",
        r"(?i)unable to locate package ([\w.+-]*\w)",
        r"[Cc]annot find (?:module|package) '((?:@[\w.-]+/)?[\w-][\w.-]*)['/]",
        r"No module named '?(\w+)",
        r"heels? for ([\w.-]*\w)",
        r"such file -- ([\w-]+)(?=[\s(]|$)",
        r"(?:file|import) for module '((?:@[\w.-]+/)?[\w-][\w.-]*)['/]",
        r"while installing ([\w.-]+) \(",
        r"package: '((?:@[\w.-]+/)?[\w.-]+)@",
        r"failed to select a version for (?:the requirement )?`([\w-]+)",
        r"\bfrom ((?:@[\w.-]+/)?[\w.-]+)@\d",
        r"node_modules/((?:@[\w.-]+/)?[\w.-]+)/build/",
        r"ES Module \S*node_modules/((?:@[\w.-]+/)?[\w.-]+)/",
        r"\bin \S*node_modules/((?:@[\w.-]+/)?[\w.-]+)/package\.json",
        r"requested module '(?!node:)((?:@[\w.-]+/)?[\w-][\w.-]*)['/]",
    ),
    "peer": (r"\bpeer ((?:@[\w.-]+/)?[\w.-]+)@",),
    "scope": (r"(@[\w-]+)(?:/|%2[fF])",),
    "requirement": (r"(?m)^[ \t]*([\w.-]+==[\w.]+) from ",),
    "artifact": (),
    "library": (
        *_after("library|module library"),
        r"\b(lib[\w.+-]+\.so[.\d]*)",
        r"cannot find -l([\w+-]+)",
    ),
    "header": (rf"error: {_QUOTE}?([\w./+-]+\.h(?:pp)?){_QUOTE}?(?:: No such| file not found)",),
    "symbol": (
        *_after("symbol|undefined reference to|definition of|declaration of function|identifier"),
        r"undefined symbol: (\w+)",
    ),
    "module": (
        *_after("module"),
        r"(?i)\bmodule named '?([\w.]+)",
        r"[Ff]ailed to resolve import \"([\w@./-]+)\"",
        r"no required module provides package ([\w./-]*\w)",
        r"\bverifying ([\w./-]+@[\w.+-]*\w)",
    ),
    "class": (r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$]+)",),
    "type": (
        *_after("unhashable type|vtable for|typeinfo for|type"),
        r"(?:vtable|typeinfo) for (\w+)'",
    ),
    "model": (*_after("model"), r"Couldn't find (?:all )?(\w+) with"),
    "template": (*_after("template"), r"TemplateDoesNotExist: ([\w./-]*\w)"),
    "target": _after("target"),
    "app": (),
    "migration": (),
    "branch": (*_after("branch"), r"pathspec '([\w./-]+)'"),
    "extension": (*_after("extension"), r"\bext-(\w+)"),
    "jar": (),
    "version": (),
    "array": (),
    "object": (),
    "sequence": (),
    "mapping": (),
}
"""Each placeholder, and how its value is found in any error; a signature may name others.

A value that is found counts only if it is the only one: of two ports neither is meant.
"""

_SYSTEM = r"(?!/(?:dev|etc|opt|proc|run|sys|usr|var)(?:/[\w.@+-]+){%s}(?![\w.@+/-]))"
_OF_EXAMPLES: Mapping[str, Sequence[str]] = {
    "package": (
        r"\bpip3? install ([\w.-]*\w)",
        r"ing \"(\w+)\": module is installed",
        r"\b([\w.-]*\w) v?\d+(?:\.\d+)+ (?:depends on|requires)",
        r"- ([\w.-]+/[\w.-]*\w) (?:is locked|v?\d)",
    ),
    "version": (r"(?<![\w.])v?(\d+\.\d+\.\d+)(?!\.?\d)",),
    "requirement": (r"(?<![\w.-])([A-Za-z][\w.-]*==[\w.]*\w)",),
    "file": (
        rf"(?<![\w./@-]){_SYSTEM % 1}((?:/[\w.@+-]+)+/[\w.@+-]*\w)",
        rf"(?<![\w./@:+-])((?:[\w.@+-]+/)+[\w@+][\w@.+-]*\.(?:{_EXTENSIONS}))(?!\.?[\w/(-])",
        rf"/([\w@+][\w@.+-]*\.(?:{_EXTENSIONS}))(?!\.?[\w/(-])",
        r"such file -- (\w+/[\w/.-]*\w)",
    ),
    "folder": (rf"(?<![\w./@-])(?={_SYSTEM % '1,2'}((?:/[\w.@+-]+){{2,}})/[\w.@+-])",),
    "module": (r"\bpackage ([\w.-]+/[\w./-]*\w)", r"module \(([\w.-]+/[\w./-]*\w)\)"),
}
"""More values that an example may have; in an error they need not be what a command is about."""

# As facts these name software and its version, such as `node: v20.11.0` and `database: mysql`.
_SOFTWARE = {"broker", "database", "model", "node", "provider", "registry", "service", "version"}
_PLACEHOLDER = re.compile(rf"(?<![\w$%{{])\{{({'|'.join(NAMES)})\}}(?!\}})")


def in_text(text: str) -> list[str]:
    """Return the names of its placeholders, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put in the values; a placeholder without one becomes its name in capitals."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], shown(found[1])), text)


def shown(name: str) -> str:
    """Return what stands for a placeholder without a value."""
    return name.upper()


def values_for(
    names: Iterable[str], *, facts: Mapping[str, str], captured: Mapping[str, str], text: str
) -> dict[str, str]:
    """Find the values that an error has for these names.

    What a signature captured wins over a value of the usual form in the text, and that over a
    fact that the caller gives. Values must be one plain word in a shell, in SQL and in code.
    """
    given = {name.strip().lower().replace(" ", "_"): value.strip() for name, value in facts.items()}
    found = {}
    for name in set(names):
        fact = None if name in _SOFTWARE else given.get(name)
        value = _first_safe(captured.get(name), _only_one_in(text, name), fact)
        if value:
            found[name] = value
    return found


def found_in(text: str) -> list[tuple[str, str]]:
    """Return values of an example, each with its placeholder's name, very short ones apart.

    These are values of the usual form, and all versions, requirements and paths.
    """
    found = [(name, value) for name in NAMES for value in sorted(_example_values_in(text, name))]
    return [(name, value) for name, value in found if len(value) >= MIN_DISTINCT_LENGTH]


def is_safe(value: str) -> bool:
    return len(value) <= MAX_VALUE_LENGTH and _SAFE.fullmatch(value) is not None


def _first_safe(*values: str | None) -> str | None:
    return next((value for value in values if value and is_safe(value)), None)


def _only_one_in(text: str, name: str) -> str | None:
    values = _values_in(text, name)
    return values.pop() if len(values) == 1 else None


def _values_in(text: str, name: str) -> set[str]:
    return _safe_values(text, NAMES[name])


def _example_values_in(text: str, name: str) -> set[str]:
    return _values_in(text, name) | _safe_values(text, _OF_EXAMPLES.get(name, ()))


def _safe_values(text: str, expressions: Iterable[str]) -> set[str]:
    compiled = map(_compiled, expressions)
    found = {value.rstrip(".:") for one in compiled for value in one.findall(text)}
    return {value for value in found if is_safe(value)}


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
