"""axe-core, which looks for what keeps people with impairments out."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests import node

SCRIPT = node.FOLDER / "axe-core/axe.min.js"
SERIOUS = ("serious", "critical")
SHOWN = 3

needs_axe = pytest.mark.skipif(not SCRIPT.exists(), reason="axe-core is missing: run `make node`")


def serious_violations(page: Page, script: Path = SCRIPT) -> list[str]:
    """Of the page as it is now, each with what it was found at."""
    page.evaluate(script.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {[where['html'] for where in violation['nodes'][:SHOWN]]}"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
    ]
