"""Record the containers used by upstreams, in the data folder, until they are cleaned up."""

import json
from pathlib import Path

from django.conf import settings

ContainerUse = tuple[str, str]
"""A namespace and the name of a container."""


def read() -> set[ContainerUse]:
    try:
        return {(namespace, name) for namespace, name in json.loads(_path().read_text())}
    except (FileNotFoundError, ValueError):
        return set()


def add(namespace: str, container: str) -> None:
    _write(read() | {(namespace, container)})


def remove(namespace: str, container: str) -> None:
    _write(read() - {(namespace, container)})


def _write(uses: set[ContainerUse]) -> None:
    """Write the file atomically, since the gateway may be killed at any time."""
    written = _path().with_suffix(".new")
    written.write_text(json.dumps(sorted(uses)))
    written.replace(_path())


def _path() -> Path:
    return Path(settings.DATA_DIR) / "gateway-containers.json"
