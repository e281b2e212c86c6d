"""Replaces the credentials in a JSON-like value."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from contextd.redaction import literals, names, texts
from contextd.redaction.texts import Finding

_OF_ONE_WORD = ("token", "api-key", "secret-key")


@dataclass(frozen=True)
class RedactedValue:
    """A value of the same structure without its credentials."""

    value: Any
    findings: tuple[Finding, ...]


def redact_value(value: Any) -> RedactedValue:
    """Redact every string of a JSON-like value, including keys.

    A value under a name such as `password` is replaced as a whole, whatever it looks like, unless
    it is a placeholder (`***`, `<your-key>`, `${VAR}`, `changeme`), a path or an address, or words
    under the name of a token or key.
    """
    findings: list[Finding] = []
    redacted = _redacted(value, "", "", findings)
    return RedactedValue(redacted, tuple(findings))


def _redacted(value: Any, name: str, path: str, findings: list[Finding]) -> Any:
    match value:
        case str():
            return _redacted_text(value, name, path, findings)
        case dict():
            return dict(_redacted_entries(value, path, findings))
        case list() | tuple():
            entries = enumerate(value)
            return type(value)(_redacted(e, name, f"{path}[{i}]", findings) for i, e in entries)
        case _:
            return value


def _redacted_entries(
    entries: dict[str, Any], path: str, findings: list[Finding]
) -> Iterator[tuple[str, Any]]:
    for name, value in entries.items():
        shown = _redacted_text(name, "", path, findings)
        entry_path = f"{path}.{shown}" if path else shown
        yield shown, _redacted(value, name, entry_path, findings)


def _redacted_text(text: str, name: str, path: str, findings: list[Finding]) -> str:
    redacted = texts.redact(text)
    kind = names.kind_of(name)
    if kind and not texts.is_redacted(redacted.text) and _may_be_credential(name, kind, text):
        findings.append(Finding(kind, 1, path))
        return texts.marker(kind)
    findings += (replace(finding, path=path) for finding in redacted.findings)
    return redacted.text if redacted.findings else text


def _may_be_credential(name: str, kind: str, text: str) -> bool:
    if literals.is_placeholder(text) or literals.is_location(text):
        return False
    if kind in _OF_ONE_WORD and " " in text and not any(map(literals.looks_random, text.split())):
        return False
    return names.is_specific(name, text)
