"""Going through a page with the tabulator."""

from collections.abc import Iterator
from dataclasses import dataclass

from playwright.sync_api import Page

MOST_STOPS = 400
# Whether the element, or the frame around it, looks otherwise than without the focus.
IS_SEEN = """() => {
  const focused = document.activeElement;
  const look = () => {
    const looks = [];
    for (let at = focused, up = 0; at && up < 3; at = at.parentElement, up++) {
      const {outline, boxShadow, border, background, color, textDecoration} = getComputedStyle(at);
      looks.push([outline, boxShadow, border, background, color, textDecoration]);
    }
    return JSON.stringify(looks);
  };
  const withFocus = look();
  focused.blur();
  const without = look();
  focused.focus({focusVisible: true, preventScroll: true});
  return withFocus !== without;
}"""


@dataclass(frozen=True, slots=True)
class Stop:
    """Its role and name, such as `link "Dashboard"`, and whether one sees that it has the focus."""

    name: str
    is_seen: bool


def stops(page: Page) -> Iterator[Stop]:
    """From where the focus is to the end of the page; it stays where the caller breaks off."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            return
        name = page.locator(":focus").aria_snapshot().splitlines()[0]
        yield Stop(name.removeprefix("- ").removesuffix(":"), page.evaluate(IS_SEEN))
    raise AssertionError(f"the page has no end after {MOST_STOPS} stops")


def go_to(page: Page, name: str) -> None:
    """Raises where no stop has this in its role and name."""
    visited = []
    for stop in stops(page):
        if name in stop.name:
            return
        visited.append(stop.name)
    raise AssertionError(f"{name} is not among {visited}")


def follow(page: Page) -> None:
    """Press Enter, and be where that leads."""
    with page.expect_navigation():
        page.keyboard.press("Enter")
