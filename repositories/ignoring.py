"""Apply ignore files: each covers its own folder, and the nearest one takes precedence."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from repositories import rules

MAX_BYTES = 1_000_000
FOLDERS_REMEMBERED = 10_000


class Ignores:
    """Reads ignore files with the given names below `root` on demand.

    Later names take precedence over earlier ones; links are not followed.
    """

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self._root, self._names = root, names
        self._specs_of = lru_cache(FOLDERS_REMEMBERED)(self._read)

    def verdict(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Return True if ignored, False if re-included, else None, whatever the parent folders."""
        asked = f"{path}/" if is_folder else path
        for folder in PurePosixPath(path).parents:
            inside = asked if str(folder) == "." else asked.removeprefix(f"{folder}/")
            for spec in self._specs_of(str(folder)):
                if (found := spec.check_file(inside).include) is not None:
                    return found
        return None

    def verdict_within(self, path: str) -> bool | None:
        """Return the verdict, with everything in an ignored folder ignored."""
        folders = [str(folder) for folder in PurePosixPath(path).parents][:-1]
        if any(self.verdict(folder, is_folder=True) for folder in reversed(folders)):
            return True
        return self.verdict(path)

    def re_includes_below(self, folder: str) -> bool:
        """Return whether a file of the last name re-includes what may be in an ignored folder."""
        name = PurePosixPath(folder).name
        return any(
            not pattern.include and name in str(pattern.pattern).lstrip("!").split("/")
            for parent in PurePosixPath(folder).parents
            for spec in self._specs_of(str(parent))[:1]
            for pattern in spec.patterns
            if pattern.include is not None
        )

    def _read(self, folder: str) -> list[GitIgnoreSpec]:
        files = [self._root / folder / name for name in reversed(self._names)]
        return [spec for file in files if (spec := _spec_in(file))]


def _spec_in(file: Path) -> GitIgnoreSpec | None:
    """Parse an ignore file; skip lines that are not valid patterns, as git does."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_BYTES:
            return None
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return rules.patterns(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        rules.patterns([line])
    except ValueError:
        return False
    return True
