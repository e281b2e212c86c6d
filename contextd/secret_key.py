"""The key that signs logins and encrypts stored secrets, created once, in the data folder."""

import os
import secrets
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def path_in(folder: Path) -> Path:
    """Return the path of the key."""
    return folder / "secret_key"


def kept_in(folder: Path) -> str:
    """Return the key, created if there is none; only its owner may read the file."""
    path = path_in(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise _unusable(error) from None


def found_in(folder: Path) -> str:
    """Return the key, or a temporary one if `up` has not created one: nothing is encrypted yet."""
    try:
        return path_in(folder).read_text(encoding="ascii")
    except FileNotFoundError:
        return _new()
    except OSError as error:
        raise _unusable(error) from None


def _make(path: Path) -> None:
    """Create the key; processes that start at the same time agree on the first one."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(_new())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()


def _new() -> str:
    return secrets.token_urlsafe(48)


def _unusable(error: OSError) -> ImproperlyConfigured:
    remedy = (
        "; run commands as the user that runs contextd"
        if isinstance(error, PermissionError)
        else ""
    )
    return ImproperlyConfigured(f"CONTEXTD_DATA_DIR: cannot keep a key there: {error}{remedy}")
