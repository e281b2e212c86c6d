"""One Chromium for all tests of this folder, and a window for each of them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page

from tests.browser import example
from tests.browser.windows import CHROMIUM, Window, open_browser, open_window
from tests.conftest import Call
from tests.server import Server


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with open_browser(CHROMIUM) as browser:
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
    window.log_in(User.objects.create_superuser("ann", password="of no use"))
    return window.page


@pytest.fixture
def kept(call: Call, settings: Any) -> None:
    """Records and calls to look at."""
    settings.CONTEXTD_RATE_LIMITS = False
    example.keep_records(call)
    example.keep_calls()
