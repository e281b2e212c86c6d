"""Which files a folder has: what git knows and does not ignore, else all that is not ignored."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from contextd import git
from repositories import rules
from repositories.ignoring import Ignores
from repositories.rules import Reason

GIT_SECONDS = 120
OWN_IGNORE_FILE = ".contextdignore"


def files_in(root: Path) -> Iterator[str]:
    """Paths relative to `root`, with `/`; some may be gone, or links, or not files at all."""
    listed = _listed_by_git(root)
    if listed is None:
        yield from _walk(root)
        return
    for path in listed:
        if path.endswith("/"):
            continue  # another repository that is not a part of this one
        if (root / path).is_dir() and not (root / path).is_symlink():
            if is_real(root / path):
                yield from (f"{path}/{inside}" for inside in files_in(root / path))
        else:
            yield path


def is_real(path: Path) -> bool:
    """Whether no part of the way there is a link."""
    return os.path.realpath(path) == str(path)


def _listed_by_git(root: Path) -> Sequence[str] | None:
    """None where `root` is no work tree, or a folder that the one around it ignores."""
    if not _is_in_work_tree(root) or _git(root, "check-ignore", "-q", ".") is not None:
        return None
    listed = _git(root, *git.NOT_IGNORED)
    return None if listed is None else [path for path in listed.split("\0") if path]


def _is_in_work_tree(root: Path) -> bool:
    with suppress(OSError):
        return any((folder / ".git").exists() for folder in (root, *root.parents))
    return False


def _git(root: Path, *arguments: str) -> str | None:
    """What it says; None when it fails or is not there."""
    try:
        ended = git.ask(root, *arguments, seconds=GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(ended.stdout) if ended.returncode == 0 else None


def _walk(root: Path) -> Iterator[str]:
    """Without following links, so cycles end; a folder that cannot be opened is listed itself."""
    ignores = Ignores(root, [".gitignore", OWN_IGNORE_FILE])
    folders = [""]
    while folders:
        folder = folders.pop()
        entries = _entries(root / folder)
        if entries is None:
            yield folder or "."
        for entry in entries or ():
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not entry.is_dir(follow_symlinks=False):
                if not ignores.verdict(path):
                    yield path
            elif not _is_left_out(ignores, path):
                folders.append(path)


def _entries(folder: Path) -> list[os.DirEntry[str]] | None:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return None


def _is_left_out(ignores: Ignores, folder: str) -> bool:
    """By an ignore file, else by our own rules, which spares a walk through a million files."""
    verdict = ignores.verdict(folder, is_folder=True)
    if verdict is None:
        return rules.by_name(f"{folder}/") is Reason.VENDORED
    return verdict
