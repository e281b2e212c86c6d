"""Parse semantic versions, and find the next one."""

from collections.abc import Collection

from semver import Version

from contextd.errors import Invalid

LENGTH = 64
FIRST = "1.0.0"


def is_valid(text: str) -> bool:
    return text.isascii() and Version.is_valid(text)


def read(text: object) -> str | None:
    """Return a version in full, even from `1` or `2.0`; None if it is not a version."""
    written = str(text).strip().removeprefix("v")
    padded = ".".join([*written.split("."), "0", "0"][:3]) if written.count(".") < 2 else written
    return padded if len(padded) <= LENGTH and is_valid(padded) else None


def raises(asked: str | None, newest: str) -> bool:
    """Return whether the requested version is higher than the newest one."""
    return asked is not None and Version.parse(asked) > Version.parse(newest)


def following(asked: str | None, current: str, taken: Collection[str]) -> str:
    """Return the requested version if it is higher, else the next patch level that is free.

    Raises Invalid if that has more characters than a version may have.
    """
    newest = current
    if asked is not None and raises(asked, current):
        if asked not in taken:
            return asked
        newest = asked
    following = _next_patch(newest)
    while following in taken:
        following = _next_patch(following)
    return following


def _next_patch(newest: str) -> str:
    following = str(Version.parse(newest).bump_patch())
    if len(following) > LENGTH:
        raise Invalid(
            f"no patch level follows {newest}; give a higher version, such as "
            f"{Version.parse(newest).bump_minor()}",
            field="version",
        )
    return following
