"""What happens to an uploaded file between the preview of an import and its confirmation."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from checkpoints.models import Checkpoint
from contextd.admin import transfer, uploads
from tests.admin import messages_of
from tests.contextd.transfer import preview, take_in

CHECKPOINTS = "/admin/checkpoints/checkpoint/"
PASSWORD = "hunter2hunter2"
FILE = b"summary,project_path\none,/w/shop\n"

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, int]]:
    """The content and the seconds of everything that is kept in Valkey for an import."""
    stored: list[tuple[bytes, int]] = []
    keep = cache.set

    def note(key: str, value: Any, timeout: Any = None, **options: Any) -> None:
        if key.startswith(uploads.PREFIX):
            stored.append((value, timeout))
        keep(key, value, timeout, **options)

    monkeypatch.setattr(cache, "set", note)
    return stored


def test_an_import_that_is_confirmed_twice_is_done_once(
    admin_client: Client, warm_model: None
) -> None:
    confirm = preview(admin_client, CHECKPOINTS, "csv", FILE).context["confirm_form"].initial

    pages: list[Any] = [
        admin_client.post(f"{CHECKPOINTS}process_import/", confirm, follow=True) for _ in range(2)
    ]

    assert [page.status_code for page in pages] == [200, 200]
    assert Checkpoint.objects.count() == 1
    (told,) = messages_of(pages[1])
    assert (
        told == "Nothing was imported: this import was confirmed before, or its preview is "
        "older than an hour. If its records are missing, choose the file again"
    )


def test_an_unknown_file_is_no_import(admin_client: Client) -> None:
    confirm = {"import_file_name": "x" * 32, "original_file_name": "a.csv", "format": "0"}

    page = admin_client.post(f"{CHECKPOINTS}process_import/", confirm, follow=True)

    assert "confirmed before" in messages_of(page)[0]


def test_a_file_that_is_refused_is_not_kept(
    admin_client: Client, stored: list[tuple[bytes, int]]
) -> None:
    for content in (
        f"summary,project_path\npassword={PASSWORD},/w/shop\n".encode(),
        b"nonsense\n1\n",
        b"\xff",
    ):
        assert "confirm_form" not in preview(admin_client, CHECKPOINTS, "csv", content).context

    assert not stored


def test_a_file_waits_encrypted_for_an_hour(
    admin_client: Client, stored: list[tuple[bytes, int]], warm_model: None
) -> None:
    content = f"summary,project_path\npassword={PASSWORD},/w/shop\n".encode()

    take_in(admin_client, CHECKPOINTS, "csv", content, takes_credentials="on")

    ((kept, seconds),) = stored
    assert PASSWORD.encode() not in kept
    assert seconds == 3600
    assert PASSWORD not in Checkpoint.objects.get().summary


def test_a_file_that_is_too_large_is_told_what_to_do(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MAX_FILE_BYTES", len(FILE) - 1)

    page = preview(admin_client, CHECKPOINTS, "csv", FILE)

    assert page.context["form"].errors == {"import_file": [transfer.TOO_LARGE]}


def test_a_file_that_another_key_encrypted_is_not_imported(
    admin_client: Client, settings: Any
) -> None:
    confirm = preview(admin_client, CHECKPOINTS, "csv", FILE).context["confirm_form"].initial
    name = confirm["import_file_name"]
    settings.SECRET_KEY = "another"

    with pytest.raises(uploads.Gone):
        uploads.take(name)
