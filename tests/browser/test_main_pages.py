"""What holds for each page that people use."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.urls import reverse
from playwright.sync_api import Page, expect

from contexts.models import Context
from remediations.models import Remediation
from skills.models import Skill
from tests.browser import colors
from tests.browser.axe import needs_axe, serious_violations
from tests.browser.colors import Colors
from tests.browser.windows import NARROW, WIDE, Window
from tests.conftest import Call
from threats.models import Threat

AUTHORED = {"version": "1.0.0", "author": "ann", "category": "testing"}
WIDTH = "document.documentElement.scrollWidth"


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def form_of(model: type[Model]) -> str:
    record = model._default_manager.earliest("pk")
    return reverse(
        f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[record.pk]
    )


def paths() -> list[str]:
    fix = Remediation.objects.earliest("pk")
    record = reverse("record", args=["remediation", fix.pk])
    pages = [reverse("home"), f"{reverse('search')}?q={fix}", record, reverse("live")]
    pages += [reverse("home-errors"), reverse("home-health")]
    data = [f"{reverse(f'dashboard{name}')}?format=api" for name in ("", "-series", "-calls")]
    lists = [list_of(model) for model in (Remediation, Skill, Threat)]
    forms = [form_of(model) for model in (Remediation, Skill, Context, User)]
    return [
        *pages,
        *data,
        reverse("admin:index"),
        *lists,
        *forms,
        *(f"{list_of(Remediation)}{name}/" for name in ("import", "export")),
        reverse("admin:skills_skill_take_in"),
    ]


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/admin/", "/dashboard/login/"])
def test_axe_finds_nothing_serious_before_the_login(
    window: Window, path: str, scheme: Colors
) -> None:
    assert serious_violations(window.show(path, scheme)) == []


@needs_axe
def test_axe_finds_nothing_serious_in_the_pages_to_try_operations(window: Window) -> None:
    page = window.show("/api/v1/docs")
    expect(page.get_by_text("checkpoint_save").first).to_be_visible()

    # Swagger UI nests buttons in the headings that it lets one open.
    assert [one for one in serious_violations(page) if "nested-interactive" not in one] == []


@needs_axe
@pytest.mark.usefixtures("kept", "curator")
def test_each_is_for_everybody(window: Window) -> None:
    """Each page is loaded twice, once for each colour scheme, since loading takes the time."""
    found = {
        path: [*faults_in_light(window, path), *faults_in_dark(window, path)] for path in paths()
    }

    assert {path: faults for path, faults in found.items() if faults} == {}


def faults_in_light(window: Window, path: str) -> Iterator[str]:
    page = window.show(path, "light")
    yield from serious_violations(page)
    if colors.are_dark(page):
        yield "it is dark"
    page.set_viewport_size(NARROW)
    if (width := page.evaluate(WIDTH)) > NARROW["width"]:
        yield f"it is {width} pixels wide on a phone"
    page.set_viewport_size(WIDE)


def faults_in_dark(window: Window, path: str) -> Iterator[str]:
    """Look only for what depends on colours."""
    page = window.show(path, "dark")
    yield from serious_violations(page, rules=["color-contrast", "link-in-text-block"])
    if not colors.are_dark(page):
        yield "it is not dark"


@needs_axe
def test_a_long_preview_can_be_scrolled_by_keyboard(
    window: Window, curator: Page, call: Call
) -> None:
    content = "Look again.\n\n" * 200
    call("skill_create", name="Look", description="Looks", content=content, **AUTHORED)
    page = window.show(form_of(Skill))
    expect(page.get_by_role("region", name="Preview")).to_contain_text("Look again.")

    assert serious_violations(page) == []
