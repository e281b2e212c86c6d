"""Decide which folders of this machine the server may read."""

import os
from pathlib import Path

from django.conf import settings

from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed

FIELD = "path"


def real_folder(caller: Caller, path: str) -> Path:
    """Return the folder with links resolved. Raises NotAllowed, or Invalid if it is not a folder.

    A caller who may not read there does not learn what exists.
    """
    allowed = [Path(root) for root in settings.CONTEXTD_INDEX_ROOTS]
    if not allowed and not caller.is_from_this_machine:
        raise NotAllowed(
            "until its admin sets CONTEXTD_INDEX_ROOTS, this server indexes folders only for "
            "requests sent from its own machine: to a loopback address, not through a proxy",
            field=FIELD,
        )
    if allowed and not _is_below(Path(path), allowed):
        raise _outside(path)
    folder = _resolved(path)
    if allowed and not _is_below(folder, [_resolved(str(root)) for root in allowed]):
        raise _outside(path)
    if not os.path.isdir(folder):  # also False for inaccessible or too long paths
        raise Invalid(f"{path} is not a folder that the server can read", field=FIELD)
    return folder


def is_readable(folder: Path) -> bool:
    """Return whether an indexed folder still exists and may be read."""
    is_real = os.path.realpath(folder) == str(folder)
    return is_real and is_allowed(folder) and os.path.isdir(folder)


def may_lie_elsewhere(folder: Path) -> bool:
    """Return whether an unreadable folder may be on the other machine that indexed it.

    If its parent folder is here, it was deleted, moved or made inaccessible instead.
    """
    if not is_allowed(folder):
        return False
    try:
        os.stat(folder.parent)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def is_allowed(folder: Path) -> bool:
    """Return whether the current settings let the server read it."""
    allowed = [Path(os.path.realpath(root)) for root in settings.CONTEXTD_INDEX_ROOTS]
    return not allowed or _is_below(folder, allowed)


def _resolved(path: str) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):  # circular links
        raise Invalid(f"{path} cannot be read", field=FIELD) from None


def _is_below(folder: Path, roots: list[Path]) -> bool:
    return any(folder.is_relative_to(root) for root in roots)


def _outside(path: str) -> NotAllowed:
    return NotAllowed(
        f"{path} is outside of the folders that this server indexes (CONTEXTD_INDEX_ROOTS)",
        field=FIELD,
    )
