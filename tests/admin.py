"""What pages of the admin show."""

from typing import Any


def messages_of(page: Any) -> list[str]:
    return [str(message) for message in page.context["messages"]]
