"""The changes made as root, as which Postgres refuses to run: the minimum that it needs.

- One system user is created, once, without home, shell or password.
- It becomes the owner of its database and its socket directory, nothing else.
- Parent folders of these and of the program that other users may not traverse become traversable
  (`o+x`), but not listable or readable.
"""

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path

from contextd.embedded.processes import Account, StartError, say

NAME = "contextd-postgres"


def account() -> Account | None:
    """Return the user that Postgres runs as if we are root, created if it is missing."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        entry = _make()
    return Account(entry.pw_uid, entry.pw_gid)


def let_pass(*paths: Path) -> None:
    """Open these paths to a user other than root."""
    folders = {folder for path in paths for folder in path.resolve().parents}
    for folder in sorted(folders):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
            say(f"As root: let user {NAME} pass through {folder} (o+x).")


def _make() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not useradd:
        raise StartError(
            f"Postgres does not run as root: create a system user {NAME}, or start as another user"
        )
    command = [useradd, "--system", "--no-create-home", "--home-dir", "/nonexistent"]
    made = subprocess.run(  # noqa: S603  (no shell, nothing from outside)
        [*command, "--shell", "/usr/sbin/nologin", NAME],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        # Looked up even after a failure: a concurrent start may have created it.
        entry = pwd.getpwnam(NAME)
    except KeyError:
        raise StartError(f"system user {NAME} cannot be created: {made.stderr.strip()}") from None
    say(f"As root: created system user {NAME}, since Postgres does not run as root.")
    return entry
