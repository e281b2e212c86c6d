"""Run over a repository: index new and changed files, forget deleted ones."""

import os
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import OperationalError
from django.utils import timezone

from contextd import git, limits, search
from contextd.errors import Invalid, report_bug
from contextd.jobs import Hold, Stopped
from contextd.validation import replace_unstorable
from repositories import listing, passages, reading, roots
from repositories.models import Repository, SourceFile
from repositories.passages import Indexed
from repositories.reading import Reader, Skipped, SourceText
from repositories.rules import Reason
from repositories.selection import Selection

BATCH_FILES = 40
BATCH_CHARACTERS = 300_000
FORGOTTEN_AT_ONCE = 100
MAX_ERRORS = 100


@dataclass(slots=True)
class Tally:
    """The counts of a run so far."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: Counter[Reason] = field(default_factory=Counter)
    partly_outlined: int = 0
    failed: int = 0
    errors: list[dict[str, str]] = field(default_factory=list)

    @property
    def files(self) -> int:
        return self.added + self.changed + self.unchanged

    def fail(self, path: str, error: str) -> None:
        self.failed += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append({"path": path, "error": error})

    def as_report(self, seconds: float) -> dict[str, Any]:
        return {
            "files_indexed": self.files,
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "skipped": {str(reason): n for reason, n in sorted(self.skipped.items())},
            "partly_outlined": self.partly_outlined,
            "failed": self.failed,
            "errors": self.errors,
            "seconds": round(seconds, 1),
        }


def run(repository: Repository, hold: Hold) -> dict[str, Any]:
    """Index in batches, each in a transaction, so that the next run resumes after any end."""
    started = time.monotonic()
    root = Path(repository.path)
    if not roots.is_readable(root):
        raise Invalid(f"{root} is no longer a folder that the server may read", field="path")
    Repository.objects.filter(pk=repository.pk).update(host=socket.gethostname())
    tally = Run(repository, root, hold).go()
    report = tally.as_report(time.monotonic() - started)
    Repository.objects.filter(pk=repository.pk).update(report=report, indexed_at=timezone.now())
    return report


class Run:
    def __init__(self, repository: Repository, root: Path, hold: Hold) -> None:
        self._repository, self._root, self._hold = repository, root, hold
        self._selection = Selection(root, repository.include_patterns, repository.exclude_patterns)
        self._reader = Reader(root, repository.max_file_size)
        self._known = repository.files.digests()
        self._kept: set[int] = set()
        self._unreadable: set[str] = set()
        self._tally = Tally()
        self._done = self._total = 0

    def go(self) -> Tally:
        listed = listing.files_in(self._root)
        self._tally.skipped += listed.skipped
        for folder, error in listed.failures.items():
            self._fail_to_read(folder, error)
        for batch in in_batches(self._changed(oldest_first(self._root, listed.paths))):
            self._index(batch)
        self._forget(
            pk
            for path, (pk, _) in self._known.items()
            if pk not in self._kept and not self._may_be_there(path)
        )
        return self._tally

    def _index(self, batch: Sequence[tuple[SourceText, str]]) -> None:
        """Index the batch; if that fails, go file by file, so that a bad one affects no other."""
        try:
            self._write([passages.index(*one, report=self._report) for one in batch])
        except (Stopped, OperationalError):
            raise
        except Exception as error:
            if len(batch) > 1:
                for one in batch:
                    self._index([one])
            else:
                (path,) = (source.path for source, _ in batch)
                self._tally.fail(path, report_bug(f"indexing {path}", error).message)

    def _report(self, path: str) -> None:
        self._hold.report(self._done, self._total, replace_unstorable(path))

    def _changed(self, paths: Sequence[str]) -> Iterator[tuple[SourceText, str]]:
        self._total = len(paths)
        for number, path in enumerate(paths):
            self._done = number
            self._report(path)
            source = self._read(path)
            if source is None:
                continue
            digest = passages.digest_of(source)
            pk, known = self._known.get(path, (0, ""))
            self._kept.add(pk)
            if digest != known:
                yield source, digest
            else:
                self._tally.unchanged += 1

    def _read(self, path: str) -> SourceText | None:
        if path != replace_unstorable(path):
            self._tally.fail(replace_unstorable(path), "its name is not UTF-8")
            return None
        if not git.is_inside(path):
            self._tally.fail(path, reading.LEADS_OUT)
            return None
        try:
            verdict = self._selection.verdict(path)
            if verdict.reason:
                raise Skipped(verdict.reason)
            return self._reader.read(path, any_content=verdict.any_content)
        except Skipped as skipped:
            self._tally.skipped[skipped.reason] += 1
        except (FileNotFoundError, NotADirectoryError):
            pass  # git also lists deleted files until that is committed
        except OSError as error:
            self._fail_to_read(path, error.strerror or str(error))
        return None

    def _fail_to_read(self, path: str, error: str) -> None:
        """Report the path, and keep what is indexed of it."""
        self._unreadable.add(path)
        self._tally.fail(replace_unstorable(path), error)

    def _may_be_there(self, path: str) -> bool:
        """Return whether it may exist although it, or a parent folder, could not be read."""
        place = PurePosixPath(path)
        return not self._unreadable.isdisjoint(map(str, (place, *place.parents)))

    def _write(self, batch: Sequence[Indexed]) -> None:
        """Store the batch completely or not at all, while the job is held."""
        with limits.transaction():
            self._hold.keep()
            # Lock it, since its project may be merged into another one.
            locked = Repository.objects.select_for_update(no_key=True)
            repository = locked.filter(pk=self._repository.pk).first()
            if repository is None:
                raise Stopped
            rows = [self._row(repository, indexed) for indexed in batch]
            new = [row for row in rows if not row.pk]
            SourceFile.objects.bulk_update([row for row in rows if row.pk], CHANGING)
            SourceFile.objects.bulk_create(new)
            prepared = {row.pk: one.prepared for row, one in zip(rows, batch, strict=True)}
            search.store_many(passages.DOMAIN, repository.project_id, prepared)
        self._tally.added += len(new)
        self._tally.changed += len(rows) - len(new)
        self._tally.partly_outlined += sum(not indexed.is_complete for indexed in batch)

    def _row(self, repository: Repository, indexed: Indexed) -> SourceFile:
        source = indexed.source
        pk, _ = self._known.get(source.path, (None, ""))
        return SourceFile(
            pk=pk,
            repository=repository,
            path=source.path,
            language=indexed.language,
            size=source.size,
            digest=indexed.digest,
            symbols=indexed.symbols,
            modified_at=datetime.fromtimestamp(source.modified_ns / 1e9, UTC),
            indexed_at=timezone.now(),
        )

    def _forget(self, keys: Iterable[int]) -> None:
        gone = list(keys)
        for start in range(0, len(gone), FORGOTTEN_AT_ONCE):
            batch = gone[start : start + FORGOTTEN_AT_ONCE]
            with limits.transaction():
                self._hold.keep()
                forget_files(batch)
            self._tally.removed += len(batch)


CHANGING = ["language", "size", "digest", "symbols", "modified_at", "indexed_at"]


def forget_files(keys: Sequence[int]) -> None:
    search.forget(passages.DOMAIN, keys)
    SourceFile.objects.filter(pk__in=keys).delete()


def oldest_first(root: Path, paths: Iterable[str]) -> Sequence[str]:
    """Sort by modification time: what is stored last, and likely in use, is embedded first."""

    def changed_at(path: str) -> float:
        try:
            return os.lstat(root / path).st_mtime
        except OSError:
            return 0

    return sorted(dict.fromkeys(paths), key=changed_at)


def in_batches(
    sources: Iterable[tuple[SourceText, str]],
) -> Iterator[list[tuple[SourceText, str]]]:
    batch: list[tuple[SourceText, str]] = []
    characters = 0
    for source, digest in sources:
        batch.append((source, digest))
        characters += len(source.text)
        if len(batch) == BATCH_FILES or characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
