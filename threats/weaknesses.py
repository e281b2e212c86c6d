"""The public lists of weaknesses that threats refer to: CWE and OWASP."""

from functools import cache
from pathlib import Path
from typing import Literal

List = Literal["cwe", "owasp"]

_FOLDER = Path(__file__).parent / "references"


@cache
def known(which: List) -> dict[str, str]:
    """Return names by id, such as `CWE-862` or `A01:2021`; CWE is limited to software."""
    prefix = "CWE-" if which == "cwe" else ""
    lines = (_FOLDER / f"{which}.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ", 1) for line in lines)
    return {f"{prefix}{number}": name for number, name in pairs}
