"""How the admin shows values in its lists."""

import pytest
from django.template.loader import render_to_string
from django.test import Client

from tests.conftest import Call

pytestmark = pytest.mark.django_db


def test_times_name_their_zone(admin_client: Client, call: Call) -> None:
    call("checkpoint_save", summary="Zeppelin", project_path="/w/shop")

    page = admin_client.get("/admin/checkpoints/checkpoint/").content.decode()

    assert " UTC" in page
    assert "p.m." not in page
    assert "a.m." not in page


def test_a_flag_that_is_off_is_no_red_cross() -> None:
    shown = render_to_string("unfold/helpers/boolean.html", {"value": False})

    assert 'aria-label="No"' in shown
    assert "close_small" not in shown
