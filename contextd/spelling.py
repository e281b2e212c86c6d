"""Validate how settings are written.

The messages never contain the value, which may hold a credential.
"""

import re
from typing import Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError


def spelled(pattern: str, sentence: str) -> AfterValidator:
    """Require that a text matches the pattern; the sentence is the error."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise PydanticCustomError("spelling", sentence)
        return value

    return AfterValidator(check)


def address(schemes: set[str], *examples: str) -> AfterValidator:
    """Require a URL with one of these schemes."""
    sentence = f"must be an address such as {' or '.join(examples)}"

    def check(value: str) -> str:
        if not _is_address(value, schemes):
            raise PydanticCustomError("address", sentence)
        return value

    return AfterValidator(check)


def _is_address(value: str, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return False
    return parts.scheme in schemes and "://" in value and bool(parts.netloc or parts.path)


def amount() -> BeforeValidator:
    """Require a number that is not negative, written in digits."""

    def check(value: Any) -> float:
        if not re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", str(value)):
            raise PydanticCustomError("amount", "must be a number such as 2.5, and not negative")
        return float(value)

    return BeforeValidator(check)


def whole_number(low: int, high: int) -> BeforeValidator:
    """Require a whole number within that range, written in digits."""

    def check(value: Any) -> int:
        if not re.fullmatch(r"\s*\d{1,9}\s*", str(value)) or not low <= int(value) <= high:
            sentence = f"must be a whole number from {low} to {high}"
            raise PydanticCustomError("number", sentence)
        return int(value)

    return BeforeValidator(check)
