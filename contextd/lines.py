"""Split a stream of bytes into lines of limited length."""

from collections.abc import Iterator


class LineSplitter:
    """Splits chunks into lines; drops lines that are too long."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._is_skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Yield complete lines, and None for each line that is too long."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if not self._is_skipping:
                yield self._kept(part)
            self._rest.clear()
            self._is_skipping = False
        if not self._is_skipping and len(self._rest) + len(rest) > self._limit:
            self._is_skipping = True
            self._rest.clear()
            yield None
        elif not self._is_skipping:
            self._rest += rest

    def end(self) -> bytes:
        """Return the last line, which has no line feed."""
        return bytes(self._rest)

    def _kept(self, part: bytes) -> bytes | None:
        return bytes(self._rest + part) if len(self._rest) + len(part) <= self._limit else None
