"""What holds for each page that people use."""

import pytest
from django.urls import reverse

from remediations.models import Remediation
from tests.browser import colors
from tests.browser.axe import needs_axe, serious_violations
from tests.browser.colors import Colors
from tests.browser.windows import NARROW, Window

WIDTH = "document.documentElement.scrollWidth"


def paths() -> list[str]:
    fix = Remediation.objects.earliest("pk")
    form = reverse("admin:remediations_remediation_change", args=[fix.pk])
    return [reverse("home"), reverse("admin:index"), form]


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
