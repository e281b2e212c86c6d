"""No credential of a file is stored, wherever it stands, and lines keep their numbers."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from contextd.search.models import Passage
from repositories.models import SourceFile
from tests.conftest import Call
from tests.repositories.conftest import Folder, Index

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    own = made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return own.decode()


def test_a_private_key_in_code_is_not_stored(
    clone: Folder, index: Index, call: Call, key: str
) -> None:
    clone.write({"a.py": f'KEY = """{key}"""\n\n\ndef zeppelin():\n    return KEY\n'})
    clone.write({"b.go": f"package b\n\nconst Key = `{key}`\n"})
    clone.write({"c.md": f"# Keys\n\n```\n{key}```\n"})
    clone.write({"d.txt": f"one\n{key}zeppelin\n"})

    index(clone)

    stored = "\n".join(Passage.objects.values_list("text", flat=True))
    assert "[REDACTED:private-key]" in stored
    assert not [line for line in key.splitlines() if line in stored]
    lines = key.count("\n")
    (passage,) = Passage.objects.filter(text__contains="def zeppelin")
    assert passage.last_line == lines + 5
    (plain,) = Passage.objects.filter(text__startswith="one")
    assert (plain.first_line, plain.last_line) == (1, lines + 2)


def test_a_name_that_is_a_credential_is_not_stored(clone: Folder, index: Index, call: Call) -> None:
    clone.write({"a.md": f"# My token {TOKEN}\n", "b.py": f"class {TOKEN}:\n    pass\n"})
    clone.write({"c.tf": f'resource "x" "{TOKEN}" {{\n}}\n', f"{TOKEN}.md": "# Hello\n"})

    state = index(clone)

    assert state.skipped == {"secret": 1}
    kept: list[Any] = [*Passage.objects.values(), *SourceFile.objects.values()]
    assert len(kept) == 6
    assert TOKEN.lower() not in str(kept).lower()


def test_secrets_of_a_folder_that_is_indexed_itself_stay_out(folder: Folder, index: Index) -> None:
    kube = Folder(folder.path / ".kube")
    kube.write({"config": "client-key-data: abc\n"})

    assert index(kube).skipped == {"secret": 1}
