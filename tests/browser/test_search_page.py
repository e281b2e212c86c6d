"""One box for all that is kept, and a page for each record."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import keyboard
from tests.browser.windows import Window

pytestmark = pytest.mark.usefixtures("kept")

ASKED = "connection"
POOL = "Connection pool of the shop sized, load test to be repeated"
FOUND = "psycopg.OperationalError: connection refused on port 5432"


def box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search everything")


def results(page: Page, kind: str) -> Locator:
    return page.get_by_role("region", name=kind).get_by_role("link")


def test_everything_is_searched_from_any_page(window: Window) -> None:
    page = window.show("/dashboard/")

    box(page).fill(ASKED)
    page.get_by_role("button", name="Search").click()

    expect(results(page, "Remediations").first).to_have_text(FOUND)
    expect(results(page, "Checkpoints").first).to_have_text(POOL)
    assert page.locator("mark").first.inner_text().lower() == "connection"
    expect(page.get_by_role("status")).to_contain_text("kinds of records")


def test_results_come_while_one_types_and_of_one_kind(window: Window) -> None:
    page = window.show("/dashboard/search/")

    box(page).press_sequentially("release", delay=20)
    expect(results(page, "Skills").first).to_contain_text("Release the shop")
    page.get_by_role("combobox", name="In").select_option("Checkpoints")

    expect(page.get_by_role("region", name="Skills")).to_have_count(0)
    assert "q=release" in page.url
    assert "kind=checkpoint" in page.url


def test_what_is_not_there_is_said(window: Window) -> None:
    page = window.show("/dashboard/search/?q=zzyzx")

    expect(page.get_by_role("status")).to_have_text("Nothing was found that you may see.")


def test_results_are_walked_and_opened_by_keys(window: Window) -> None:
    page = window.show("/dashboard/")

    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.type(ASKED)
    keyboard.follow(page)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name=POOL)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name=FOUND)).to_be_focused()
    page.keyboard.press("Escape")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    keyboard.follow(page)

    expect(page.get_by_role("heading", name=POOL)).to_be_visible()


def test_each_stop_of_the_results_is_seen(window: Window) -> None:
    page = window.show(f"/dashboard/search/?q={ASKED}")

    assert [stop.name for stop in keyboard.stops(page) if not stop.is_seen] == []


def test_a_record_tells_what_it_says_what_is_like_it_and_where_it_is_edited(
    window: Window, curator: Page
) -> None:
    page = window.show(f"/dashboard/search/?q={ASKED}")

    page.get_by_role("link", name=FOUND).click()
    said = page.get_by_role("region", name="Content")
    expect(said).to_contain_text("docker compose up -d db")
    related = page.get_by_role("region", name="Related").get_by_role("link")
    expect(related.first).to_be_visible()
    expect(page.get_by_role("region", name="Use in the last")).to_contain_text("remediation_save")
    expect(page.get_by_role("region", name="History").first).to_contain_text("Created")
    page.get_by_role("link", name="Edit in the admin").click()

    expect(page.get_by_label("Error message")).to_have_value(FOUND)
