"""What somebody does who has just started contextd."""

from playwright.sync_api import Page, expect

from contextd.management.commands import up

CHOSEN = "correct horse battery"


def log_in(page: Page, password: str) -> None:
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_the_password_that_is_shown_once_lets_in_and_is_changed(page: Page) -> None:
    shown = up.create_first_admin()
    assert shown

    page.goto("/admin/login/")
    log_in(page, shown)
    page.get_by_role("button", name="admin").click()
    page.get_by_role("link", name="Change password").click()
    page.get_by_label("Old password").fill(shown)
    page.get_by_label("New password").first.fill(CHOSEN)
    page.get_by_label("New password confirmation").fill(CHOSEN)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("heading", name="Password change successful")).to_be_visible()
    page.get_by_role("button", name="admin").click()
    page.get_by_role("button", name="Log out").click()
    page.goto("/admin/")
    log_in(page, shown)
    expect(page.get_by_text("Please enter the correct username and password")).to_be_visible()
    log_in(page, CHOSEN)

    expect(page.get_by_role("link", name="Remediations").first).to_be_visible()
