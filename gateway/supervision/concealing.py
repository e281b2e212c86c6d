"""What is told of an upstream, without the values of its settings."""

from collections.abc import Callable, Mapping

SHORTEST_SECRET, SHORTEST_WORD = 6, 8


def concealer(settings: Mapping[str, str]) -> Callable[[str], str]:
    """Puts the name of a setting where its value stands, or a word of it, as in `Bearer ...`."""
    secrets = _secrets_in(settings)

    def conceal(text: str) -> str:
        for name, secret in secrets:
            text = text.replace(secret, f"[{name}]")
        return text

    return conceal


def _secrets_in(settings: Mapping[str, str]) -> list[tuple[str, str]]:
    """The longest first."""
    whole = {(name, value) for name, value in settings.items() if len(value) >= SHORTEST_SECRET}
    words = {
        (name, word)
        for name, value in settings.items()
        for word in value.split()
        if len(word) >= SHORTEST_WORD
    }
    return sorted(whole | words, key=lambda pair: len(pair[1]), reverse=True)
