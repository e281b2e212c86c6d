"""Remove the values of an upstream's settings from what is reported about it."""

from collections.abc import Callable, Mapping
from typing import Any

MIN_SECRET_CHARACTERS, MIN_WORD_CHARACTERS = 6, 8


def concealer(settings: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces settings' values, or words of them, by their names."""
    secrets = _secrets_in(settings)

    def conceal(text: str) -> str:
        for name, secret in secrets:
            text = text.replace(secret, f"[{name}]")
        return text

    return conceal


def concealed(value: Any, conceal: Callable[[str], str]) -> Any:
    """Return the JSON value with the function applied to each text and each name in it."""
    if isinstance(value, str):
        return conceal(value)
    if isinstance(value, dict):
        return {conceal(name): concealed(part, conceal) for name, part in value.items()}
    return [concealed(part, conceal) for part in value] if isinstance(value, list) else value


def _secrets_in(settings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the secrets with their names, longest first."""
    whole = {
        (name, value) for name, value in settings.items() if len(value) >= MIN_SECRET_CHARACTERS
    }
    words = {
        (name, word)
        for name, value in settings.items()
        for word in value.split()
        if len(word) >= MIN_WORD_CHARACTERS
    }
    return sorted(whole | words, key=lambda pair: len(pair[1]), reverse=True)
