"""Removes credentials from what people and assistants save.

Pure functions: `redact` for a text, `redact_lines` to keep its line numbers, `redact_value` for
JSON-like values, `findings_of` for a text that is refused rather than changed.
"""

from contextd.redaction.texts import Finding, Redacted, findings_of, redact, redact_lines
from contextd.redaction.values import RedactedValue, redact_value

__all__ = [
    "Finding",
    "Redacted",
    "RedactedValue",
    "findings_of",
    "redact",
    "redact_lines",
    "redact_value",
]
