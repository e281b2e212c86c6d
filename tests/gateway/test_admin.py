"""Upstreams in the admin."""

import re
from typing import get_args

from django.test import Client

from contextd import bus, changes, operations
from gateway import offering
from gateway.models import Kind, Upstream, UpstreamFeature, UpstreamSetting
from tests.gateway.conftest import ECHO


def test_the_admin_shows_and_approves(upstream: Upstream, admin_client: Client) -> None:
    offering.save_listing(upstream.pk, Kind.TOOL, [{**ECHO, "description": "<b>Other</b>"}])
    held = UpstreamFeature.objects.get()
    address = "/admin/gateway/upstreamfeature/"

    page = admin_client.get(f"{address}{held.pk}/change/").content.decode()
    listed = admin_client.get(f"/admin/gateway/upstream/{upstream.pk}/change/").content.decode()

    assert "&lt;b&gt;Other&lt;/b&gt;" in page
    assert "held back" in listed

    chosen = {"action": "approve_selected", "_selected_action": [held.pk]}
    asked = admin_client.post(address, chosen).content.decode()
    (shown,) = re.findall('name="shown" value="([^"]+)"', asked)
    assert "&lt;b&gt;Other&lt;/b&gt;" in asked
    assert "odd:echo" not in [offer.canonical for offer in offering.offered()]

    offering.save_listing(upstream.pk, Kind.TOOL, [{**ECHO, "description": "<b>Another</b>"}])
    admin_client.post(address, {**chosen, "shown": [shown]})
    assert "odd:echo" not in [offer.canonical for offer in offering.offered()]

    offering.save_listing(upstream.pk, Kind.TOOL, [{**ECHO, "description": "<b>Other</b>"}])
    admin_client.post(address, {**chosen, "shown": [shown]})

    assert operations.get("odd:echo").description == "<b>Other</b>"


def test_the_admin_never_shows_a_value_again(upstream: Upstream, admin_client: Client) -> None:
    setting = UpstreamSetting(upstream=upstream, name="KEY")
    setting.value = "hush-hush"
    setting.save()

    page = admin_client.get(f"/admin/gateway/upstream/{upstream.pk}/change/").content.decode()

    assert "KEY" in page
    assert "hush-hush" not in page


def test_the_admin_deletes_one_with_all_that_it_offers(
    upstream: Upstream, admin_client: Client
) -> None:
    address = f"/admin/gateway/upstream/{upstream.pk}/delete/"

    asked = admin_client.get(address).content.decode()
    admin_client.post(address, {"post": "yes"})

    assert "1 upstream features" in asked
    assert not Upstream.objects.exists()
    assert not UpstreamFeature.objects.exists()


def save_in_admin(client: Client, upstream: Upstream, **fields: str) -> str:
    """Post the form of an upstream, with a setting KEY, and return the page that follows."""
    forms = {"settings": 1, "features": 0, "events": 0}
    counts = {f"{name}-TOTAL_FORMS": count for name, count in forms.items()}
    counts |= {f"{name}-INITIAL_FORMS": 0 for name in forms}
    limits = [field for field in Upstream._meta.fields if field.name.endswith("_ms")]
    given = {field.name: getattr(upstream, field.name) for field in limits}
    given |= {"transport": "stdio", "command": "true", "restart_attempts": 5}
    given |= {"settings-0-name": "KEY", "settings-0-value": "hush", **fields}
    address = f"/admin/gateway/upstream/{upstream.pk}/change/"
    return client.post(address, {**counts, **given}, follow=True).content.decode()


def test_the_admin_saves_a_value_and_refuses_what_none_can_be(
    upstream: Upstream, admin_client: Client
) -> None:
    refused = save_in_admin(admin_client, upstream, **{"settings-0-value": "a\x1bb"})

    assert "has control characters" in refused
    assert not UpstreamSetting.objects.exists()

    save_in_admin(admin_client, upstream, **{"settings-0-value": "hush "})

    assert UpstreamSetting.objects.get().value == "hush"


def test_what_is_switched_off_in_the_admin_is_announced_for_all_lists(
    upstream: Upstream, admin_client: Client
) -> None:
    heard: list[changes.Announcement] = []
    unsubscribe = changes.subscribe(heard.append)
    try:
        save_in_admin(admin_client, upstream)
    finally:
        unsubscribe()

    kinds = [one.kind for one in heard if isinstance(one, bus.Change)]
    assert sorted(kinds) == sorted(get_args(bus.ListName))


def test_the_admin_warns_of_what_cannot_start(upstream: Upstream, admin_client: Client) -> None:
    page = save_in_admin(admin_client, upstream, command="/no/such", is_enabled="on")

    assert "odd cannot start: there is no program" in page
