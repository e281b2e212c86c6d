import dataclasses
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contextd import shipped
from contextd.shipped import Library
from threats import knowledge, services

FEW = ("AUTHZ-001", "AUTHZ-003", "AUTHZ-012", "AUTHN-001", "INJ-001", "INJ-003")

LoadFrom = Callable[[Path], Library]


@pytest.fixture
def load_from(transactional_db: None, settings: Any) -> LoadFrom:
    """Load the threat files of a folder, found by their words."""
    settings.CONTEXTD_RATE_LIMITS = False

    def load_from(folder: Path) -> Library:
        library = dataclasses.replace(services.LIBRARY, read=partial(knowledge.shipped, folder))
        shipped.load(library)
        return library

    return load_from


@pytest.fixture
def few(load_from: LoadFrom, tmp_path: Path) -> Path:
    """A folder with some of the threats that ship, which are loaded."""
    for key in FEW:
        found = next(knowledge.FOLDER.rglob(f"TMKB-{key}.yaml"))
        shutil.copy(found, tmp_path)
    load_from(tmp_path)
    return tmp_path
