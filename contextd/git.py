"""Runs git in folders that are not trusted."""

import os
import subprocess
from pathlib import Path, PurePosixPath

# The folder may belong to another user. None of its settings may start a program.
GIT = ("git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
SAFE = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would start its remote's program
    "LC_ALL": "C",
}
TRACKED = ("ls-files", "-z", "--cached")
NOT_IGNORED = (*TRACKED, "--others", "--exclude-standard")


def ask(folder: Path, *arguments: str, seconds: float) -> "subprocess.CompletedProcess[bytes]":
    """Run git in the folder. Raise OSError or SubprocessError if git is missing or too slow."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(  # noqa: S603  (no shell, and no argument comes from a caller)
        [*GIT, *arguments],
        cwd=folder,
        env=environment | SAFE,
        capture_output=True,
        timeout=seconds,
        check=False,
    )


def is_inside(path: str) -> bool:
    """Return whether the path is relative and plain, and so stays in its folder unless a link leads
    out. Git lists what its index names, whatever that is."""
    pure = PurePosixPath(path)
    return str(pure) == path and not pure.is_absolute() and ".." not in pure.parts
