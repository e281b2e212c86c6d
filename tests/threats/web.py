"""Requests to the code of threats, and the pages that this code requests."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
from pydantic import ConfigDict, validate_call


def serve(function: Callable[..., Any], **arguments: Any) -> Any:
    """Call a function as FastAPI does: with those arguments that it has, validated."""
    names = inspect.signature(function).parameters.keys() & arguments.keys()
    validate = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
    answer = validate(function)(**{name: arguments[name] for name in names})
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


class Pages:
    """The httpx library with these pages, each a status, headers and content, as the network.

    `sent` has the address and the proxy of each request, `unverified` the addresses for which no
    certificate was verified.
    """

    HTTPError = httpx2.HTTPError

    def __init__(self, pages: Mapping[str, tuple[int, dict[str, str], bytes]]) -> None:
        self.pages = pages
        self.sent: list[tuple[str, str | None]] = []
        self.unverified: list[str] = []

    def AsyncClient(
        self, *, proxy: str | None = None, verify: bool = True, **options: Any
    ) -> httpx2.AsyncClient:
        def answer(request: httpx2.Request) -> httpx2.Response:
            url = str(request.url)
            self.sent.append((url, proxy))
            if not verify:
                self.unverified.append(url)
            status, headers, content = self.pages[url]
            return httpx2.Response(status, headers=headers, content=content)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer), **options)
