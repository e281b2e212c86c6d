"""Skills as files, for tests that take them in."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command

PDF = b"""\
---
name: pdf-forms
description: >-
  Fills the forms of a PDF. Use when somebody asks
  for a form to be filled in.
license: Apache-2.0   # as the others
allowed-tools: Bash(python:*) Read
metadata:
  author: acme
  version: "1.4"
  reviewed: 2026-01-31
---

# Fill a form

1. Read [the fields](references/FIELDS.md).
2. Run `scripts/fill.py`.
"""
FORMS: Mapping[str, bytes] = {
    "SKILL.md": PDF,
    "LICENSE.txt": b"Apache License\r\n",
    "references/FIELDS.md": "# Felder für Ämter\n".encode(),
    "references/regional/eu/VAT.md": b"# VAT\n",
    "scripts/fill.py": b"#!/usr/bin/env python3\nprint('filled')\n",
    "assets/stamp.png": bytes(range(256)),
    "assets/empty": b"",
}
EXECUTABLE = "scripts/fill.py"
ROOT = "skill://pdf-forms"
"""The address of the skill with these files."""


def document(name: str, **front_matter: str) -> bytes:
    lines = {"name": name, "description": f"How to {name}", **front_matter}
    front = "\n".join(f"{key}: {value}" for key, value in lines.items())
    return f"---\n{front}\n---\n\nDo it\n".encode()


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        (folder / path).chmod(0o755 if path == EXECUTABLE else 0o644)
    return folder


def zipped(files: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as writing:
        for path, content in files.items():
            writing.writestr(path, content)
    return archive.getvalue()


def content_of(folder: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in folder.rglob("*")
        if path.is_file()
    }


def skills(*arguments: Any) -> tuple[str, str]:
    """What the command writes, and what it warns of; with its failure at the end of the latter."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("skills", *map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        err.write(str(error))
    return out.getvalue(), err.getvalue()
