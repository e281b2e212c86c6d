"""Semantic versions: which there are, and which comes next."""

from collections.abc import Iterable

from semver import Version

LENGTH = 64
FIRST = "1.0.0"


def is_valid(text: str) -> bool:
    return text.isascii() and Version.is_valid(text)


def read(text: object) -> str | None:
    """A version as people write it, `1` and `2.0` among them, in full; None for what is none."""
    written = str(text).strip().removeprefix("v")
    padded = ".".join([*written.split("."), "0", "0"][:3]) if written.count(".") < 2 else written
    return padded if len(padded) <= LENGTH and is_valid(padded) else None


def raises(asked: str | None, newest: str) -> bool:
    """Whether the version that is asked for is higher than the newest there is."""
    return asked is not None and Version.parse(asked) > Version.parse(newest)


def following(asked: str | None, newest: str) -> str:
    """The version asked for where that raises the newest one, else its next patch level."""
    if asked is not None and raises(asked, newest):
        return asked
    return str(Version.parse(newest).bump_patch())


def newest_of(texts: Iterable[str]) -> str:
    return str(max(map(Version.parse, texts)))
