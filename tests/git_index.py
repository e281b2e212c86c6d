"""An index of git that names files outside of its work tree."""

import hashlib
import subprocess
from pathlib import Path


def add_to_index(clone: Path, path: str) -> None:
    """Add a path to the index that git itself refuses to add."""
    accepted = "x" * len(path)
    (clone / accepted).write_text("x = 1\n")
    subprocess.run(["git", "add", accepted], cwd=clone, check=True)  # noqa: S607
    (clone / accepted).unlink()
    index = clone / ".git/index"
    content = index.read_bytes()[:-20].replace(accepted.encode(), path.encode())
    index.write_bytes(content + hashlib.sha1(content, usedforsecurity=False).digest())
