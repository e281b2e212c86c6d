"""Which pages the docs show, and how they are drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import ViewportSize, expect

from contextd import pipeline
from contextd.callers import Caller, Entry
from remediations.models import Remediation
from tests.browser import example
from tests.browser.colors import Colors
from tests.browser.windows import CHROMIUM, Window, open_browser, open_window
from tests.server import ROOT

FOLDER = ROOT / "docs/images"
MOST_BYTES = 200_000
SIZE: ViewportSize = {"width": 1280, "height": 820}


@dataclass(frozen=True, slots=True)
class Picture:
    """Drawn once the page shows that text."""

    name: str
    path: Callable[[], str]
    shows: str
    scheme: Colors = "light"


def search() -> str:
    return f"{reverse('search')}?q=connection+refused"


def record() -> str:
    return reverse("record", args=["remediation", refused().pk])


def form() -> str:
    return reverse("admin:remediations_remediation_change", args=[refused().pk])


def refused() -> Remediation:
    return Remediation.objects.get(error_type="OperationalError")


PICTURES = [
    Picture("dashboard-light", partial(reverse, "home"), "is healthy"),
    Picture("dashboard-dark", partial(reverse, "home"), "is healthy", "dark"),
    Picture("search", search, "results in"),
    Picture("record", record, "Patterns"),
    Picture("live", partial(reverse, "live"), "Live: new calls"),
    Picture("admin-list", partial(reverse, "admin:remediations_remediation_changelist"), "blog"),
    Picture("admin-form", form, "Solution"),
]


def draw(url: str) -> None:
    if CHROMIUM is None:
        raise SystemExit("there is no Chromium to draw with: apt-get install chromium")
    FOLDER.mkdir(exist_ok=True)
    keep_example()
    with open_browser(CHROMIUM) as browser, open_window(browser, url) as window:
        window.page.set_viewport_size(SIZE)
        window.log_in(User.objects.get(username="admin"))
        for picture in PICTURES:
            draw_one(window, picture)


def keep_example() -> None:
    ann = Caller(principal="ann", door="cli", entry=Entry(), connection="example")
    example.keep_records(lambda name, /, **arguments: pipeline.call(name, arguments, ann))
    example.keep_calls()


def draw_one(window: Window, picture: Picture) -> None:
    page = window.show(picture.path(), picture.scheme)
    expect(page.get_by_text(picture.shows).first).to_be_visible()
    image = page.screenshot(path=FOLDER / f"{picture.name}.png")
    if len(image) > MOST_BYTES:
        raise SystemExit(f"{picture.name} has {len(image):,} bytes: show less of it")
