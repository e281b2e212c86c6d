"""Indexing needs nearly the same memory for any number of files: only their list grows."""

import gc
import tracemalloc
from pathlib import Path

from tests.repositories.conftest import Folder, Index

FEW, MANY = 80, 320
"""Two batches, and eight."""
LINES = 60
MORE = 1.2


def test_memory_does_not_grow_with_the_number_of_files(tmp_path: Path, index: Index) -> None:
    _peak_of(_folder(tmp_path / "warm", 50), index)  # loads grammars and the tokenizer

    few = _peak_of(_folder(tmp_path / "few", FEW), index)
    many = _peak_of(_folder(tmp_path / "many", MANY), index)

    assert many < MORE * few


def _folder(path: Path, files: int) -> Folder:
    """Fill a folder with texts of few different words, since some words are cached."""
    folder = Folder(path)
    text = "".join(f"# {n} times {n} is {n * n}\n" for n in range(LINES))
    folder.write(
        {
            f"{number // 10}/step{number % 10}.py": f"{text}\n\ndef step():\n    return 1\n"
            for number in range(files)
        }
    )
    return folder


def _peak_of(folder: Folder, index: Index) -> int:
    """Return the most bytes that Python held at once, beyond those at the beginning."""
    gc.collect()
    tracemalloc.start()
    try:
        assert index(folder).added
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
