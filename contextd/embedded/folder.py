"""The data folder: exclusive to one running contextd, each part with the owner it needs."""

import contextlib
import fcntl
import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from contextd.embedded.processes import Account, StartError

_MEGABYTE = 1024 * 1024
_MIN_FREE_MEGABYTES = 100  # a new Postgres takes 50 MB, one log segment 16 MB


@contextlib.contextmanager
def claim(data_dir: Path) -> Iterator[None]:
    """Create the folder and keep every other contextd out of it. Raise StartError."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (data_dir / "lock").open("w")
        free = shutil.disk_usage(data_dir).free // _MEGABYTE
    except OSError as error:
        raise unusable(data_dir, error) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError(
                f"another contextd is running in {data_dir}: stop it, or set CONTEXTD_DATA_DIR"
            ) from None
        if free < _MIN_FREE_MEGABYTES:
            raise StartError(
                f"the disk of {data_dir} is full: {free} MB are free, "
                f"contextd needs {_MIN_FREE_MEGABYTES}"
            )
        yield


def make_directory(path: Path, mode: int = 0o700, account: Account | None = None) -> None:
    """Create it, or use an existing one with the right owner. Raise StartError."""
    try:
        path.mkdir(mode=mode, exist_ok=True)
        if account and path.lstat().st_uid == os.geteuid():
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
        ensure_owner(path, account)
        path.chmod(mode)
    except OSError as error:
        raise unusable(path, error) from None


def ensure_owner(path: Path, account: Account | None = None) -> None:
    """Raise StartError unless it is a directory that belongs to the account, by default our own."""
    status = path.lstat()
    wanted = account.uid if account else os.geteuid()
    if status.st_uid != wanted or not stat.S_ISDIR(status.st_mode):
        raise StartError(
            f"{path} belongs to {_user_name(status.st_uid)}, not to {_user_name(wanted)}: "
            "start contextd as that user, or set CONTEXTD_DATA_DIR to another folder"
        )


def unusable(path: Path, error: OSError) -> StartError:
    return StartError(f"{path} (see CONTEXTD_DATA_DIR) cannot be used: {error.strerror}")


def _user_name(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"
