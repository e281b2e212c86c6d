"""Asking git about a folder that may be anybody's."""

import os
import subprocess
from pathlib import Path

# Its owner may be another user than ours. Of its settings, none may start a program.
GIT = ("git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
NOT_IGNORED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


def ask(folder: Path, *arguments: str, seconds: float) -> "subprocess.CompletedProcess[bytes]":
    """Raises OSError or SubprocessError where git is not there, or takes longer."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(  # noqa: S603  (no shell, and no argument comes from a caller)
        [*GIT, *arguments],
        cwd=folder,
        env={**environment, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        capture_output=True,
        timeout=seconds,
        check=False,
    )
