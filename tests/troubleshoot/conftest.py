from collections.abc import Callable
from typing import Any

import pytest

from contextd import search
from tests.conftest import Call
from troubleshoot import curating
from troubleshoot.models import Pattern

DISK_FULL = "OSError: [Errno 28] No space left on device: '/var/lib/shop/upload.bin'"
KNOWN: dict[str, dict[str, Any]] = {
    "disk-full": {
        "title": "The file system has no free blocks",
        "category": "storage",
        "severity": "high",
        "technologies": ["linux"],
        "errors": [DISK_FULL, "cp: error writing 'dump.sql': No space left on device"],
        "signatures": ["No space left on device"],
        "cause": "Every block of the file system is taken.",
        "confirm": [{"run": "df -h /var/lib/shop", "expect": "Use% is 100"}],
        "fix": [
            {"do": "Delete the old logs", "run": "rm -rf /var/log/shop/old", "destructive": True},
            {"do": "See what takes the room", "run": "du -sh /var/lib/*", "destructive": False},
        ],
        "confused_with": [{"id": "inodes-gone", "tell": "df -i shows IUse% 100, df -h does not"}],
        "tags": ["disk"],
    },
    "inodes-gone": {
        "title": "The file system has no free inodes",
        "category": "storage",
        "severity": "medium",
        "technologies": ["linux"],
        "errors": ["touch: cannot touch 'session_9': No space left on device"],
        "signatures": ["cannot touch .*No space left on device"],
        "cause": "Millions of small files took every inode, while blocks are free.",
        "confirm": [{"run": "df -i /var/lib/shop", "expect": "IUse% is 100"}],
        "fix": [{"do": "Keep fewer small files", "run": "", "destructive": False}],
    },
    "module-missing": {
        "title": "A Python module is not installed",
        "category": "dependency",
        "severity": "medium",
        "technologies": ["python"],
        "errors": ["ModuleNotFoundError: No module named 'yaml'"],
        "signatures": ["No module named '"],
        "cause": "The interpreter that runs is another one than the package was installed for.",
        "confirm": [{"run": "python -m pip show pyyaml", "expect": "Package(s) not found"}],
        "fix": [{"do": "Install it", "run": "python -m pip install pyyaml", "destructive": False}],
    },
}

Know = Callable[..., Pattern]


def proceed(call: Call, begun: Any, outcome: str) -> Any:
    """Report the outcome of the check that the diagnosis asks for."""
    made = {"session_id": begun.session_id, "check": begun.next_check.id}
    return call("troubleshoot_continue", outcome=outcome, **made)


@pytest.fixture
def know(call: Call, settings: Any) -> Know:
    """Publish a pattern, by words and meaning."""
    settings.CONTEXTD_RATE_LIMITS = False

    def know(key: str, **changes: Any) -> Pattern:
        pattern = Pattern(key=key, **{**KNOWN.get(key, KNOWN["disk-full"]), **changes})
        curating.save(pattern)
        return pattern

    return know


@pytest.fixture
def known(know: Know) -> dict[str, Pattern]:
    """Three patterns, two of which are easily taken for each other."""
    patterns = {key: know(key) for key in KNOWN}
    search.embed_pending()
    return patterns
