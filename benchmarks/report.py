"""Write measured figures to docs/benchmarks.md, each section with machine, sizes and command."""

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.server import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"


def machine() -> str:
    """Describe this machine with its load over five minutes, since other work affects figures."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores ({cpu()}) under a load of {os.getloadavg()[1]:.1f}, "
        f"{gigabytes:.0f} GiB, Python {platform.python_version()}"
    )


def cpu() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if os.name == "posix" else ""
    named = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return named[1].strip() if named else platform.processor()


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(name: str, title: str, command: str, text: str) -> None:
    """Replace or add the section with that name, and print it."""
    day = datetime.now(UTC).date().isoformat()
    body = f"## {title}\n\n{day}, {machine()}, `{command}`.\n\n{text}"
    section = f"<!-- {name} -->\n{body}\n<!-- /{name} -->"
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Benchmarks\n"
    pattern = re.compile(f"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
    if pattern.search(page):
        page = pattern.sub(lambda _: section, page)
    else:
        page = f"{page.rstrip()}\n\n{section}\n"
    PAGE.write_text(page, encoding="utf-8")
    print(section)  # noqa: T201
