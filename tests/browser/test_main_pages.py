"""What holds for each page that people use."""

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.urls import reverse

from contexts.models import Context
from remediations.models import Remediation
from skills.models import Skill
from tests.browser import colors
from tests.browser.axe import needs_axe, serious_violations
from tests.browser.colors import Colors
from tests.browser.windows import NARROW, Window
from threats.models import Threat

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
    lists = [list_of(model) for model in (Remediation, Skill, Threat)]
    forms = [form_of(model) for model in (Remediation, Skill, Context, User)]
    return [*pages, reverse("admin:index"), *lists, *forms, reverse("admin:skills_skill_take_in")]


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_before_the_login(window: Window, scheme: Colors) -> None:
    assert serious_violations(window.show("/admin/", scheme)) == []


@needs_axe
@pytest.mark.usefixtures("kept", "curator")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_is_for_everybody(window: Window, scheme: Colors) -> None:
    """Looked at on one visit of each page, since visits take the time."""
    found = {path: faults(window, path, scheme) for path in paths()}

    assert {path: said for path, said in found.items() if said} == {}


def faults(window: Window, path: str, scheme: Colors) -> list[str]:
    page = window.show(path, scheme)
    found = serious_violations(page)
    if colors.are_dark(page) != (scheme == "dark"):
        found.append(f"it is not {scheme}")
    return found


@pytest.mark.usefixtures("kept", "curator")
def test_none_is_wider_than_a_telephone(window: Window) -> None:
    window.page.set_viewport_size(NARROW)

    widths = {path: window.show(path).evaluate(WIDTH) for path in paths()}
    assert {path: width for path, width in widths.items() if width > NARROW["width"]} == {}
