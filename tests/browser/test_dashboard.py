"""The dashboard's charts, with calls and without, in both sets of colours."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import colors
from tests.browser.colors import Colors
from tests.browser.windows import Window

TITLES = ["Calls and failures", "How long calls take"]


def section(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title)
    return page.locator("section").filter(has=heading)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_chart_is_drawn(window: Window, scheme: Colors) -> None:
    page = window.show("/dashboard/", scheme)

    for title in TITLES:
        chart = section(page, title).get_by_role("img", name="the table below has the numbers")
        expect(chart).to_be_visible()
        assert colors.pixels_of(chart, "--first") > 100, title
    assert colors.are_dark(page) == (scheme == "dark")


@pytest.mark.usefixtures("kept")
def test_behind_each_chart_is_a_table_that_can_be_read(window: Window) -> None:
    page = window.show("/dashboard/?days=7")

    shown = {}
    for title in TITLES:
        section(page, title).locator("summary").click()
        table = section(page, title).get_by_role("table")
        expect(table).to_be_visible()
        shown[title] = [row.all_inner_texts() for row in cells(table)]
    days, latencies = shown.values()
    assert [len(days), days[0]] == [1 + 7, ["Day", "Calls", "Failed"]]
    assert all(int(calls) > int(failed) for _, calls, failed in days[1:])
    assert latencies[0] == ["Operation", "Calls", "p50 ms", "p95 ms", "p99 ms"]
    assert latencies[1][0] == "remediation_search"


def cells(table: Locator) -> list[Locator]:
    return [row.locator("th, td") for row in table.get_by_role("row").all()]


def test_without_calls_it_says_so_instead(window: Window) -> None:
    page = window.show("/dashboard/")

    for title in TITLES:
        expect(section(page, title).get_by_text("No calls yet.")).to_be_visible()
        expect(section(page, title).get_by_role("img")).to_have_count(0)
    expect(section(page, "Benefit").get_by_text("no data")).to_have_count(4)


@pytest.mark.usefixtures("kept")
def test_it_shows_another_period_of_one_project(window: Window) -> None:
    page = window.show("/dashboard/")

    page.get_by_role("combobox", name="Period").select_option(label="7 days")
    page.get_by_role("combobox", name="Project").select_option("shop")
    page.get_by_role("button", name="Show").click()

    projects = section(page, "Projects").get_by_role("row")
    expect(projects).to_have_count(2)
    expect(projects.last).to_contain_text("shop")
    expect(page.get_by_role("combobox", name="Period")).to_have_value("7")


def test_it_tells_what_works(window: Window) -> None:
    page = window.show("/dashboard/")

    expect(section(page, "Health").get_by_text("database: healthy")).to_be_visible()
