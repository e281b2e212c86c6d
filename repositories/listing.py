"""List the files of a folder: those git does not ignore or, without git, all not ignored."""

import os
import subprocess
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from contextd import git
from contextd.errors import Internal
from repositories import rules
from repositories.ignoring import Ignores
from repositories.rules import Reason

GIT_SECONDS = 120
MAX_COMPLAINT = 300
OWN_IGNORE_FILE = ".contextdignore"


class NotARepository(Exception):
    """Raised if `.git` is not a valid repository."""


def files_in(root: Path) -> Iterator[str]:
    """Yield paths relative to `root`, with `/`; some may be deleted, links or not files."""
    listed = _listed_by_git(root)
    if listed is None:
        yield from _walk(root)
        return
    for path in listed:
        if path.endswith("/"):
            continue  # a nested repository that is not a submodule
        if os.path.isdir(root / path) and not os.path.islink(root / path):
            if is_real(root / path):
                yield from (f"{path}/{inside}" for inside in files_in(root / path))
        else:
            yield path


def is_real(path: Path) -> bool:
    """Return whether no part of the path is a link."""
    return os.path.realpath(path) == str(path)


def _listed_by_git(root: Path) -> Sequence[str] | None:
    """Return git's files; None outside of a work tree, or in a folder that it ignores.

    Raises Internal if git fails, since ignored files must not be indexed then.
    """
    if not _is_in_work_tree(root) or not _git(root, "check-ignore", "-q", ".", fine={0, 1})[0]:
        return None
    _, listed = _git(root, *git.NOT_IGNORED)
    return [path for path in listed.split("\0") if path]


def _is_in_work_tree(root: Path) -> bool:
    if not any(os.path.lexists(folder / ".git") for folder in (root, *root.parents)):
        return False
    try:
        return _git(root, "rev-parse", "--is-inside-work-tree")[1].strip() == "true"
    except NotARepository:
        return False


def _git(root: Path, *arguments: str, fine: Collection[int] = (0,)) -> tuple[int, str]:
    """Return exit status and output.

    Raises NotARepository, or Internal if the status is not `fine` or git cannot run.
    """
    try:
        ended = git.ask(root, *arguments, seconds=GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Internal(f"git cannot be run in {root}: {error}") from None
    if ended.returncode not in fine:
        complaint = ended.stderr.decode(errors="replace").strip()
        if "not a git repository" in complaint:
            raise NotARepository
        raise Internal(f"git {arguments[0]} failed in {root}: {complaint[:MAX_COMPLAINT]}")
    return ended.returncode, os.fsdecode(ended.stdout)


def _walk(root: Path) -> Iterator[str]:
    """Walk without following links, so cycles end; yield folders that cannot be opened."""
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
    """Return whether an ignore file or our own rules exclude the folder, to skip huge trees."""
    verdict = ignores.verdict(folder, is_folder=True)
    if verdict is None:
        is_vendored = rules.by_name(f"{folder}/") is Reason.VENDORED
        return is_vendored and not ignores.re_includes_below(folder)
    return verdict
