"""The key that signs logins, made once and kept in the data folder."""

import os
import secrets
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def kept_in(folder: Path) -> str:
    """Read the key, making it first when there is none; only its owner may read the file."""
    path = folder / "secret_key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ImproperlyConfigured(f"CONTEXTD_DATA_DIR: cannot keep a key there: {error}") from None


def _make(path: Path) -> None:
    """Processes that start at the same time agree on the first one's."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(48))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()
