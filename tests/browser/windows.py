"""A window of the browser, and what goes wrong in it without anybody seeing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.colors import Colors

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 375, "height": 700}
WAIT_MILLISECONDS = 20_000
expect.set_options(timeout=WAIT_MILLISECONDS)
# Colours on their way to others are neither, and measured at odd times.
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"
# What no server is asked for.
INLINE = ("data:", "blob:", "about:")


@dataclass  # neither frozen nor with slots: Playwright notes its handlers on it
class Window:
    """`complaints` are errors and warnings of its console, `foreign` what it asked other hosts."""

    url: str
    page: Page
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def show(self, path: str, scheme: Colors = "light") -> Page:
        """The page at that path, as it looks where the system is set to this scheme of colours."""
        self.page.emulate_media(color_scheme=scheme)
        self.page.goto(path)
        self.page.add_style_tag(content=STILL)
        return self.page

    def log_in(self, user: User) -> None:
        """Without the form."""
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        self.page.context.add_cookies([{"name": "sessionid", "value": session, "url": self.url}])

    def note_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{self.page.url}: {message.text}")

    def note_error(self, error: Exception) -> None:
        self.complaints.append(f"{self.page.url}: {error}")

    def note_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, *INLINE)):
            self.foreign.append(f"{self.page.url}: {request.url}")


@contextmanager
def open_browser(program: str) -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patched, sync_playwright() as playwright:
        # Playwright waits in an event loop of this thread, in which nothing else runs.
        patched.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        with playwright.chromium.launch(executable_path=program) as browser:
            yield browser


@contextmanager
def open_window(browser: Browser, url: str) -> Iterator[Window]:
    """Addresses of its page begin at `url`."""
    with browser.new_context(
        base_url=url, viewport=WIDE, locale="en", timezone_id="UTC", reduced_motion="reduce"
    ) as context:
        context.set_default_timeout(WAIT_MILLISECONDS)
        window = Window(url, context.new_page())
        window.page.on("console", window.note_console)
        window.page.on("pageerror", window.note_error)
        context.on("request", window.note_request)
        yield window
