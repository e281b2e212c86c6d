"""Record the containers used by upstreams, in the data folder, until they are cleaned up."""

import json
from pathlib import Path

from django.conf import settings

Use = tuple[str, str]
"""A namespace and the name of a container."""


def containers() -> set[Use]:
    try:
        return {(namespace, name) for namespace, name in json.loads(file().read_text())}
    except (FileNotFoundError, ValueError):
        return set()


def note(namespace: str, container: str) -> None:
    keep(containers() | {(namespace, container)})


def forget(namespace: str, container: str) -> None:
    keep(containers() - {(namespace, container)})


def keep(uses: set[Use]) -> None:
    """Write the file atomically, since the gateway may be killed at any time."""
    written = file().with_suffix(".new")
    written.write_text(json.dumps(sorted(uses)))
    written.replace(file())


def file() -> Path:
    return Path(settings.DATA_DIR) / "gateway-containers.json"
