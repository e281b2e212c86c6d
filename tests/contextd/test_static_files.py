"""Static files come from packages, over ASGI as in the web process."""

from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from django.contrib.staticfiles import finders
from django.core.asgi import get_asgi_application

FILE = "unfold/css/styles.css"

pytestmark = pytest.mark.anyio


async def test_a_static_file_is_served_whole_and_can_be_cached() -> None:
    transport = httpx2.ASGITransport(cast(Any, get_asgi_application()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        found = await client.get(f"/static/{FILE}")
        head = await client.head(f"/static/{FILE}")
        known = {"If-Modified-Since": found.headers["last-modified"]}
        unchanged = await client.get(f"/static/{FILE}", headers=known)

    assert found.content == Path(str(finders.find(FILE))).read_bytes()
    assert found.headers["content-type"].startswith("text/css")
    assert head.headers["content-length"] == str(len(found.content))
    assert (unchanged.status_code, unchanged.content) == (304, b"")
