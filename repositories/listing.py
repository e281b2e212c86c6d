"""List the files of a folder: those git does not ignore or, without git, all not ignored."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from contextd import git
from contextd.errors import Internal
from repositories import roots, rules
from repositories.ignoring import Ignores
from repositories.rules import Reason

GIT_SECONDS = 120
MAX_COMPLAINT_CHARACTERS = 300
GIT_IGNORE_FILE = ".gitignore"
OWN_IGNORE_FILE = ".contextdignore"
_NOT_OPENED = re.compile(r"^warning: could not open directory '(.+)': (.+)$", re.MULTILINE)
_NOT_APPLIED = re.compile(
    r"^warning: unable to access '((?:.*/)?(?:\.gitignore|info/exclude))': (.+)$", re.MULTILINE
)


class NotARepository(Exception):
    """Raised if `.git` is not a valid repository."""


@dataclass(slots=True)
class Listing:
    """Paths relative to a root, with `/`; some may be deleted, links or not files.

    `failures` has the folders that could not be listed completely, `.` for the root, with the
    reason: they or their ignore files cannot be read. `skipped` counts folders whose files are not
    listed: repositories inside that are not submodules, and outside of git vendored ones.
    """

    paths: list[str] = field(default_factory=list)
    skipped: Counter[Reason] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, folder: str, inner: "Listing") -> None:
        """Add the listing of a folder in this one."""
        self.paths += [f"{folder}/{path}" for path in inner.paths]
        self.skipped += inner.skipped
        for path, error in inner.failures.items():
            self.failures[str(PurePosixPath(folder, path))] = error


def files_in(root: Path) -> Listing:
    """List what git does not ignore; outside of a work tree, what no ignore file excludes.

    Raises Internal if git fails, since ignored files must not be indexed then.
    """
    by_git = _listed_by_git(root)
    if by_git is None:
        return _walk(root)
    listing = Listing(failures=by_git.failures)
    for path in by_git.paths:
        if path.endswith("/"):
            listing.skipped[Reason.CLONE] += 1
        elif os.path.isdir(root / path) and not os.path.islink(root / path):
            if roots.is_real(root / path):
                listing.add(path, files_in(root / path))
        else:
            listing.paths.append(path)
    return listing


def _listed_by_git(root: Path) -> Listing | None:
    """Return git's files; None outside of a work tree, or in a folder that it ignores.

    Where git cannot read an ignore file, untracked files are left out.
    """
    prefix = _prefix_in_work_tree(root)
    if prefix is None or (prefix and _is_ignored_by_git(root)):
        return None
    listed = _git(root, *git.NOT_IGNORED)
    failures = _failures(os.fsdecode(listed.stderr), prefix)
    paths = _paths(listed.stdout)
    if failures:
        tracked = set(_paths(_git(root, *git.TRACKED).stdout))
        paths = [path for path in paths if path in tracked or not _is_below(path, failures)]
    return Listing(paths, failures=failures)


def _paths(listed: bytes) -> list[str]:
    return [path for path in os.fsdecode(listed).split("\0") if path]


def _prefix_in_work_tree(root: Path) -> str | None:
    """Return the path of `root` in its work tree, empty for the top level; None outside of one."""
    if not any(os.path.lexists(folder / ".git") for folder in (root, *root.parents)):
        return None
    try:
        answer = _git(root, "rev-parse", "--is-inside-work-tree", "--show-prefix").stdout
    except NotARepository:
        return None
    is_inside, _, prefix = os.fsdecode(answer).partition("\n")
    return prefix.removesuffix("\n") if is_inside == "true" else None


def _is_ignored_by_git(folder: Path) -> bool:
    return _git(folder, "check-ignore", "-q", ".", fine={0, 1}).returncode == 0


def _failures(complaints: str, prefix: str) -> dict[str, str]:
    """Return the folders, relative to the prefix, that git warns about, with the reason."""
    failures = dict(_NOT_OPENED.findall(complaints))
    for file, reason in _NOT_APPLIED.findall(complaints):
        place = PurePosixPath(file)
        folder = "." if place.name == "exclude" else str(place.parent)
        failures[folder] = f"{place.name} cannot be read: {reason}"
    return {_relative(folder, prefix): reason for folder, reason in failures.items()}


def _relative(folder: str, prefix: str) -> str:
    """Return the folder relative to the prefix; `.` if it is a parent of the prefix."""
    place = PurePosixPath(folder)
    return str(place.relative_to(prefix)) if place.is_relative_to(prefix) else "."


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(PurePosixPath(path).is_relative_to(folder) for folder in folders)


def _git(
    root: Path, *arguments: str, fine: Collection[int] = (0,)
) -> "subprocess.CompletedProcess[bytes]":
    """Run git. Raises NotARepository, or Internal if the status is not `fine` or it cannot run."""
    try:
        ended = git.ask(root, *arguments, seconds=GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Internal(f"git cannot be run in {root}: {error}") from None
    if ended.returncode not in fine:
        complaint = ended.stderr.decode(errors="replace").strip()
        if "not a git repository" in complaint:
            raise NotARepository
        shown = complaint[:MAX_COMPLAINT_CHARACTERS]
        raise Internal(f"git {arguments[0]} failed in {root}: {shown}")
    return ended


def _walk(root: Path) -> Listing:
    """Walk without following links, so cycles end."""
    ignores = Ignores(root, [GIT_IGNORE_FILE, OWN_IGNORE_FILE])
    listing = Listing()
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            files, inner = _sorted_entries(root, folder, ignores)
            reasons = {path: _reason_to_skip(root, path, ignores) for path in inner}
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            listing.failures[folder or "."] = error.strerror or str(error)
        else:
            listing.paths += files
            listing.skipped.update(reason for reason in reasons.values() if reason)
            folders += [path for path, reason in reasons.items() if reason is None]
    return listing


def _sorted_entries(root: Path, folder: str, ignores: Ignores) -> tuple[list[str], list[str]]:
    """Return the files and the folders in a folder that are not ignored."""
    with os.scandir(root / folder) as entries:
        known = {
            f"{folder}/{entry.name}" if folder else entry.name: entry.is_dir(follow_symlinks=False)
            for entry in sorted(entries, key=lambda entry: entry.name)
        }
    files = [path for path, is_folder in known.items() if not (is_folder or ignores.verdict(path))]
    folders = [path for path, is_folder in known.items() if is_folder]
    return files, [path for path in folders if not ignores.verdict(path, is_folder=True)]


def _reason_to_skip(root: Path, folder: str, ignores: Ignores) -> Reason | None:
    """Return why nothing in a folder is listed, to skip huge trees and other repositories."""
    if os.path.lexists(root / folder / ".git"):
        return Reason.CLONE
    if rules.by_name(f"{folder}/") is not Reason.VENDORED:
        return None
    is_included = ignores.verdict_within(folder, is_folder=True) is False
    return None if is_included or ignores.re_includes_below(folder) else Reason.VENDORED
