"""What is done as root, where Postgres refuses to run: the least that lets it run at all.

- One system user is made, once, without home, shell or password.
- Its database and its socket directory are given to it, nothing else.
- The parent folders of these and of the program that other users may not pass get the right to
  be passed (`o+x`), not to be listed or read.
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
    """The user that Postgres runs as when we are root, made if it is missing."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        entry = _make()
    return Account(entry.pw_uid, entry.pw_gid)


def let_pass(*paths: Path) -> None:
    """Open the way to these paths for a user other than root."""
    folders = {folder for path in paths for folder in path.resolve().parents}
    for folder in sorted(folders):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
            say(f"As root: let user {NAME} pass through {folder} (o+x).")


def _make() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not useradd:
        raise StartError(f"Postgres does not run as root: make a system user {NAME}, or be another")
    command = [useradd, "--system", "--no-create-home", "--home-dir", "/nonexistent"]
    made = subprocess.run(  # noqa: S603  (no shell, nothing from outside)
        [*command, "--shell", "/usr/sbin/nologin", NAME],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        # Asked even after a failure: another start may have made it at the same moment.
        entry = pwd.getpwnam(NAME)
    except KeyError:
        raise StartError(f"system user {NAME} cannot be made: {made.stderr.strip()}") from None
    say(f"As root: made system user {NAME}, as Postgres does not run as root.")
    return entry
