"""A second run indexes only what has changed."""

import os
from pathlib import Path

import pytest

from contextd.search.models import Collection, Embedding, Passage
from repositories.models import SourceFile
from tests.conftest import Call
from tests.repositories.conftest import Folder, Index, found

ALPHA = "def zeppelin():\n    return 1\n"
BETA = "def orchard():\n    return 2\n"


@pytest.fixture
def indexed(folder: Folder, index: Index) -> Folder:
    folder.write({"alpha.py": ALPHA, "beta.py": BETA})
    index(folder)
    return folder


def passages() -> dict[str, int]:
    """The keys of all passages, by what stands in them."""
    return dict(Passage.objects.values_list("text", "pk"))


def test_a_new_file_is_found(indexed: Folder, call: Call) -> None:
    assert found(call, "zeppelin") == ["alpha.py"]
    assert found(call, "orchard") == ["beta.py"]


def test_an_unchanged_file_is_not_indexed_again(indexed: Folder, index: Index) -> None:
    before = passages()
    os.utime(indexed.path / "alpha.py", (1, 1))

    again = index(indexed)

    assert (again.added, again.changed, again.unchanged, again.removed) == (0, 0, 2, 0)
    assert passages() == before


def test_a_changed_file_replaces_its_own_passages_only(
    indexed: Folder, index: Index, call: Call
) -> None:
    before = passages()
    indexed.write({"alpha.py": ALPHA.replace("zeppelin", "submarine")})

    again = index(indexed)

    assert (again.added, again.changed, again.unchanged) == (0, 1, 1)
    assert found(call, "submarine") == ["alpha.py"]
    assert "alpha.py" not in found(call, "zeppelin")
    assert passages()[BETA.strip()] == before[BETA.strip()]
    assert Collection.objects.get().passages == Passage.objects.count() == 2


def test_a_deleted_or_renamed_file_is_no_longer_found(
    indexed: Folder, index: Index, call: Call
) -> None:
    (indexed.path / "alpha.py").unlink()
    (indexed.path / "beta.py").rename(indexed.path / "gamma.py")

    again = index(indexed)

    assert (again.added, again.removed, again.files_indexed) == (1, 2, 1)
    assert found(call, "zeppelin orchard") == ["gamma.py"]
    assert SourceFile.objects.get().path == "gamma.py"
    assert Embedding.objects.count() <= Passage.objects.count() == 1


@pytest.mark.parametrize("part", ["src/b.py", "src"])
def test_a_file_that_a_link_has_replaced_is_not_found(
    folder: Folder, index: Index, call: Call, tmp_path: Path, part: str
) -> None:
    folder.write({"src/b.py": "def zeppelin():\n    pass\n"})
    index(folder)
    (folder.path / part).rename(tmp_path / "outside")
    (folder.path / part).symlink_to(tmp_path / "outside")

    assert found(call, "zeppelin") == []


def test_a_file_that_was_deleted_since_the_last_run_is_not_found(
    indexed: Folder, call: Call
) -> None:
    (indexed.path / "alpha.py").unlink()

    assert found(call, "zeppelin") == []
