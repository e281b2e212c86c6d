import dataclasses
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from contextd import pipeline
from contextd.callers import Caller
from contextd.models import Job
from repositories import services
from repositories.models import SourceFile
from tests.conftest import Call


@dataclass(frozen=True)
class Folder:
    """A folder that tests fill."""

    path: Path

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(
            ["/usr/bin/env", "git", *identity, *arguments],
            cwd=self.path,
            check=True,
            capture_output=True,
        )


class Index(Protocol):
    def __call__(self, folder: Folder, **arguments: Any) -> Any: ...


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """No work tree."""
    path = tmp_path / "shop"
    path.mkdir()
    return Folder(path)


@pytest.fixture
def clone(folder: Folder) -> Folder:
    """A work tree of git."""
    folder.git("init", "-q")
    return folder


@pytest.fixture
def local(caller: Caller) -> Caller:
    """A caller on this machine."""
    return dataclasses.replace(caller, is_local=True, is_from_this_machine=True)


@pytest.fixture
def index(call: Call, local: Caller, settings: Any) -> Index:
    """Index as a worker does; return the result of index_status."""
    settings.CONTEXTD_RATE_LIMITS = False

    def index(folder: Folder, **arguments: Any) -> Any:
        asked = {"include_patterns": [], "exclude_patterns": [], "max_file_size": 1024 * 1024}
        started = services.begin(local, path=str(folder.path), **{**asked, **arguments})
        services.index(started.job_id)
        assert Job.objects.get(pk=started.job_id).state == Job.State.DONE
        return pipeline.call("index_status", {"job_id": str(started.job_id)}, local)

    return index


def indexed() -> set[str]:
    """Paths of the indexed files."""
    return set(SourceFile.objects.values_list("path", flat=True))


def found(call: Call, query: str, **arguments: Any) -> list[str]:
    """Paths of the files that a search finds, the best first."""
    return [file.path for file in call("repository_search", query=query, **arguments).results]
