"""Decide which folders of this machine the server may read."""

import os
import socket
from pathlib import Path

from django.conf import settings

from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed

FIELD = "path"


def real_folder(caller: Caller, path: str) -> Path:
    """Return the folder with links resolved. Raises NotAllowed, or Invalid if it is not a folder.

    A caller who may not read there does not learn what exists.
    """
    ensure_may_index(caller)
    folder = Path(os.path.realpath(path))
    if not is_allowed(folder):
        raise NotAllowed(
            f"{path} is outside of the folders that this server indexes (CONTEXTD_INDEX_ROOTS)",
            field=FIELD,
        )
    if not is_readable(folder):
        raise Invalid(f"{path} is not a folder that the server can read", field=FIELD)
    return folder


def ensure_may_index(caller: Caller) -> None:
    """Raise NotAllowed if the caller may not index any folder."""
    if not settings.CONTEXTD_INDEX_ROOTS and not caller.is_from_this_machine:
        raise NotAllowed(
            "until its admin sets CONTEXTD_INDEX_ROOTS, this server indexes folders only for "
            "requests sent from its own machine: to a loopback address, not through a proxy",
            field=FIELD,
        )


def is_readable(folder: Path) -> bool:
    """Return whether an indexed folder still exists and may be read."""
    return is_real(folder) and is_allowed(folder) and os.path.isdir(folder)


def is_file(path: Path) -> bool:
    """Return whether it is a file, neither a link nor in a folder behind one."""
    return is_real(path) and os.path.isfile(path)


def is_real(path: Path) -> bool:
    """Return whether no part of the path is a link."""
    return os.path.realpath(path) == str(path)


def may_lie_elsewhere(folder: Path, host: str) -> bool:
    """Return whether an unreadable folder may be on the other machine that indexed it, `host`.

    If its parent folder is here, it was deleted, moved or made inaccessible instead.
    """
    if host == socket.gethostname() or not is_allowed(folder):
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
    return not allowed or any(folder.is_relative_to(root) for root in allowed)
