"""Which containers upstreams have been in, kept in the data folder until nothing is left there."""

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
    """Whole or not at all, since the gateway may be killed at any time."""
    written = file().with_suffix(".new")
    written.write_text(json.dumps(sorted(uses)))
    written.replace(file())


def file() -> Path:
    return Path(settings.DATA_DIR) / "gateway-containers.json"
