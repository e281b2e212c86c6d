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
    return [*pages, reverse("admin:index"), *lists, *forms, reverse("admin:skills_skill_import")]


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_before_the_login(window: Window, scheme: Colors) -> None:
    assert serious_violations(window.show("/admin/", scheme)) == []


@needs_axe
@pytest.mark.usefixtures("kept", "curator")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(window: Window, scheme: Colors) -> None:
    violations = [
        f"{path}: {violation}"
        for path in paths()
        for violation in serious_violations(window.show(path, scheme))
    ]

    assert not violations, "\n".join(violations)


@pytest.mark.usefixtures("kept", "curator")
def test_none_is_wider_than_a_telephone(window: Window) -> None:
    window.page.set_viewport_size(NARROW)

    widths = {path: window.show(path).evaluate(WIDTH) for path in paths()}
    assert {path: width for path, width in widths.items() if width > NARROW["width"]} == {}


@pytest.mark.usefixtures("kept", "curator")
def test_all_are_dark_where_the_system_is(window: Window) -> None:
    shown = {path: colors.are_dark(window.show(path, "dark")) for path in paths()}

    assert {path for path, is_dark in shown.items() if not is_dark} == set()
