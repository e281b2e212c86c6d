"""Files in and out of the admin, as people send and get them."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

FORMATS = {"csv": "0", "json": "1"}


def exported(client: Client, address: str, form: str, **query: str) -> bytes:
    page = client.post(
        f"{address}export/?{'&'.join(f'{k}={v}' for k, v in query.items())}",
        {"format": FORMATS[form], "resource": ""},
    )
    assert page["Content-Disposition"].startswith("attachment")
    return page.content


def preview(client: Client, address: str, form: str, content: bytes, **ticked: str) -> Any:
    file = SimpleUploadedFile(f"records.{form}", content)
    sent = {"format": FORMATS[form], "resource": "", "import_file": file, **ticked}
    return client.post(f"{address}import/", sent)


def take_in(client: Client, address: str, form: str, content: bytes, **ticked: str) -> list[str]:
    """By way of the preview, as people do; what they are told."""
    confirm = preview(client, address, form, content, **ticked).context["confirm_form"].initial
    page: Any = client.post(f"{address}process_import/", confirm, follow=True)
    return [str(message) for message in page.context["messages"]]


def mistakes(page: Any) -> list[str]:
    assert "confirm_form" not in page.context
    result = page.context["result"]
    invalid = [text for row in result.invalid_rows for text in row.error.messages]
    return [*invalid, *(str(error.error) for error in result.base_errors)]
