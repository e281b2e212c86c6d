"""Calls appear on the page as they are made."""

from playwright.sync_api import Locator, Page, expect

from tests.analytics.conftest import counted
from tests.browser.windows import Window
from tests.conftest import Call

__all__ = ["counted"]


def rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Calls").locator("tbody").get_by_role("row")


def listening(page: Page) -> None:
    expect(page.get_by_role("status")).to_contain_text("Live")


def test_a_call_appears_on_top_without_a_reload(window: Window, counted: Call) -> None:
    page = window.show("/dashboard/live/")
    expect(page.get_by_text("No such calls yet.")).to_be_visible()
    listening(page)

    counted("checkpoint_save", summary="Began", project_path="/w/shop")
    expect(rows(page)).to_have_count(1)
    counted("status")

    expect(rows(page)).to_have_count(2)
    expect(rows(page).first).to_contain_text("status")
    expect(page.get_by_text("No such calls yet.")).to_be_hidden()


def test_it_can_be_of_one_tool_and_paused(window: Window, counted: Call) -> None:
    page = window.show("/dashboard/live/")
    page.get_by_role("combobox", name="Tool").fill("status")
    page.get_by_role("button", name="Show").click()
    listening(page)

    counted("checkpoint_save", summary="Began", project_path="/w/shop")
    counted("status")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.get_by_role("status")).to_have_text("Paused.")
    counted("status")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Pause").press("Enter")

    expect(rows(page)).to_have_count(2)
