"""Run a measurement on a separate database: `python -m benchmarks.scratch benchmarks.errors`."""

import os
import runpy
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.core.management import call_command

from contextd import embedded


@contextmanager
def database() -> Iterator[None]:
    """Use a temporary database while the block runs; settings are read at its start."""
    with tempfile.TemporaryDirectory(prefix="contextd-bench-") as fresh:
        folder = Path(fresh)
        folder.chmod(0o711)
        with embedded.start_postgres(folder):
            use_data_of(folder)
            call_command("migrate", verbosity=0)
            yield


def use_data_of(folder: Path) -> None:
    """Set up Django to work on the data in that folder."""
    os.environ |= {
        "CONTEXTD_DATA_DIR": str(folder),
        "CONTEXTD_LOG_LEVEL": "ERROR",
        "CONTEXTD_RATE_LIMITS": "off",
        "DATABASE_URL": embedded.database_url(folder),
        "DJANGO_SETTINGS_MODULE": "contextd.settings",
    }
    django.setup()


if __name__ == "__main__":
    with database():
        runpy.run_module(sys.argv[1], run_name="__main__")
