"""axe-core, which looks for what keeps people with impairments out."""

from collections.abc import Sequence

import pytest
from playwright.sync_api import Page

from tests import node

SCRIPT = node.FOLDER / "axe-core/axe.min.js"
SERIOUS = ("serious", "critical")
SHOWN = 3

needs_axe = pytest.mark.skipif(not SCRIPT.exists(), reason="axe-core is missing: run `make node`")


def serious_violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return what breaks the rules, all unless some are named, with the elements that do."""
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    chosen = {"runOnly": {"type": "rule", "values": [*rules]}} if rules else {}
    found = page.evaluate("options => axe.run(options)", {"resultTypes": ["violations"], **chosen})
    return [
        f"{violation['id']}: {[where['html'] for where in violation['nodes'][:SHOWN]]}"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
    ]
