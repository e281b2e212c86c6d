"""Keep an uploaded file between the preview of an import and its confirmation."""

from uuid import uuid4

from django.core.cache import cache
from import_export.tmp_storages import BaseStorage

from contextd import encryption

PREFIX = "admin-import-"
KEPT_SECONDS = 60 * 60


class Gone(Exception):
    """The file was already taken, or has expired."""


def keep(content: bytes) -> str:
    """Keep the content, encrypted, and return the name to take it by, in any process."""
    name = uuid4().hex
    cache.set(PREFIX + name, encryption.encrypt_bytes(content), KEPT_SECONDS)
    return name


def take(name: str) -> bytes:
    """Return the content, to the first who asks. Raises Gone."""
    content = cache.get(PREFIX + name)
    if content is None or not cache.delete(PREFIX + name):
        raise Gone
    try:
        return encryption.decrypt_bytes(content)
    except encryption.Undecipherable:
        raise Gone from None


class Upload(BaseStorage):  # type: ignore[misc]  # the library has no types
    """A file during its preview, or while it is imported."""

    def save(self, content: bytes) -> None:
        """Hold the content in memory, since a file with errors must not be kept."""
        self._content = content

    def read(self) -> bytes:
        """Return the content. Raises Gone if it was kept before and is not there any more."""
        return take(self.name) if self.name else self._content

    def remove(self) -> None:
        """Do nothing: reading a kept file has removed it."""
