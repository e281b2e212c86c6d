"""One Chromium for all tests of this folder, and a window for each of them."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import example
from tests.browser.windows import Window, open_window
from tests.conftest import Call
from tests.contextd.conftest import http
from tests.server import Server, environment, one_server, server

__all__ = ["environment", "http", "one_server", "server"]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with pytest.MonkeyPatch.context() as patched, sync_playwright() as playwright:
        # Playwright waits in an event loop of this thread, in which nothing else runs.
        patched.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        with playwright.chromium.launch(executable_path=CHROMIUM) as browser:
            yield browser


@pytest.fixture
def window(server: Server, chromium: Browser) -> Iterator[Window]:
    """Of somebody who has not logged in; no page in it complains or asks elsewhere."""
    with open_window(chromium, server.url) as window:
        yield window
        assert window.complaints == []
        assert window.foreign == []


@pytest.fixture
def page(window: Window) -> Page:
    return window.page


@pytest.fixture
def curator(window: Window) -> Page:
    """The page of a superuser who has logged in."""
    client = Client()
    client.force_login(User.objects.create_superuser("ann", password="of no use"))
    cookie = client.cookies["sessionid"].value
    window.page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": window.url}])
    return window.page


@pytest.fixture
def kept(call: Call, settings: Any) -> None:
    """Records and calls to look at."""
    settings.CONTEXTD_RATE_LIMITS = False
    example.keep_records(call)
    example.keep_calls()
