"""Without a mouse."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser import keyboard
from tests.browser.windows import Window


@pytest.mark.usefixtures("kept")
def test_the_dashboard_can_be_walked_and_one_sees_where_one_is(window: Window) -> None:
    page = window.show("/dashboard/")
    expect(page.get_by_text("database: healthy")).to_be_visible()

    walked = list(keyboard.stops(page))

    assert [stop.name for stop in walked if not stop.is_seen] == []
    names = [stop.name for stop in walked]
    assert names[:2] == ['link "Skip to content"', 'link "Dashboard"']
    in_order = ['combobox "Period', 'button "Show"', 'region "Used most"', 'region "Clients"']
    places = [next(i for i, name in enumerate(names) if name.startswith(one)) for one in in_order]
    assert places == sorted(places)


@pytest.mark.usefixtures("kept")
def test_the_menu_can_be_skipped_and_tables_opened_with_enter(window: Window) -> None:
    page = window.show("/dashboard/")

    keyboard.go_to(page, "Skip to content")
    page.keyboard.press("Enter")
    first = next(keyboard.stops(page))
    assert first.name.startswith('combobox "Period')
    table = page.get_by_role("region", name="Calls by day")
    expect(table).to_be_hidden()
    page.locator("summary", has_text="Calls by day").focus()
    page.keyboard.press("Enter")

    expect(table).to_be_visible()


@pytest.mark.usefixtures("kept")
def test_a_record_is_found_and_corrected_by_keys(page: Page) -> None:
    User.objects.create_superuser("ann", password="correct horse")

    page.goto("/admin/remediations/remediation/")
    keyboard.go_to(page, 'textbox "Username')
    page.keyboard.type("ann")
    keyboard.go_to(page, 'textbox "Password')
    page.keyboard.type("correct horse")
    keyboard.follow(page)
    keyboard.go_to(page, 'link "ModuleNotFoundError')
    keyboard.follow(page)
    keyboard.go_to(page, 'textbox "Solution')
    page.keyboard.press("Control+End")
    page.keyboard.type(" Pin it.")
    keyboard.go_to(page, 'button "Save"')
    keyboard.follow(page)

    expect(page.get_by_text("was changed successfully")).to_be_visible()
    page.get_by_role("link", name="ModuleNotFoundError").first.click()
    expect(page.get_by_label("Solution")).to_have_value(
        "Install PyYAML in the image, not only on the laptop. Pin it."
    )


def test_one_logs_out_by_keys(curator: Page) -> None:
    curator.goto("/admin/", wait_until="networkidle")  # so that the script of the menu runs

    keyboard.go_to(curator, 'ann"')
    curator.keyboard.press("Enter")
    expect(curator.get_by_role("button", name="Log out")).to_be_visible()
    keyboard.go_to(curator, 'button "Log out')
    keyboard.follow(curator)

    expect(curator.get_by_role("heading", name="Logged out")).to_be_visible()
