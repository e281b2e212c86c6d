"""Patterns and threats go out as CSV and JSON, and come back in."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from contextd import search
from tests.contextd.transfer import FORMATS, exported, mistakes, preview, take_in
from threats.models import Threat
from troubleshoot.models import Pattern

pytestmark = pytest.mark.usefixtures("warm_model")

PATTERNS = "/admin/troubleshoot/pattern/"
THREATS = "/admin/threats/threat/"
EXAMPLE: Path = settings.BASE_DIR / "tests/threats/example.yaml"
PATTERN = {
    "key": "warp-cold",
    "title": "The warp core is cold",
    "category": "resource",
    "severity": "high",
    "technologies": ["general"],
    "errors": ["E: the warp core\nis cold"],
    "cause": "Nobody heated the core of the ship.",
    "fix": [{"do": "Heat it", "run": "heat core"}],
}


@pytest.mark.parametrize("form", FORMATS)
def test_patterns_come_and_go(admin_client: Client, form: str) -> None:
    take_in(admin_client, PATTERNS, "json", json.dumps([PATTERN]).encode())
    before = Pattern.objects.values().get()
    file = exported(admin_client, PATTERNS, form)
    Pattern.objects.all().delete()
    take_in(admin_client, PATTERNS, form, file)

    after = Pattern.objects.values().get()
    assert after["errors"] == before["errors"] == PATTERN["errors"]
    assert after["fix"] == before["fix"]
    assert search.find("warp core", domain="pattern", projects=None, limit=5).hits


def test_a_wrong_pattern_is_refused(admin_client: Client) -> None:
    wrong = {**PATTERN, "signatures": ["(x"], "severity": "grave"}
    page = preview(admin_client, PATTERNS, "json", json.dumps([PATTERN, wrong]).encode())

    assert any("severity" in mistake for mistake in mistakes(page))
    assert not Pattern.objects.exists()


@pytest.mark.parametrize("form", FORMATS)
def test_threats_come_and_go(admin_client: Client, form: str) -> None:
    written = EXAMPLE.read_text(encoding="utf-8")
    admin_client.post(f"{THREATS}add/", {"content": written, "is_published": "on"})
    before = Threat.objects.values().get()
    file = exported(admin_client, THREATS, form)
    Threat.objects.all().delete()
    take_in(admin_client, THREATS, form, file)

    assert Threat.objects.get().content == before["content"]
    secret = b"postgresql://app:s3cretpass@db/shop was read by strangers"
    leaking = file.replace(b"Check and use are two steps", secret)
    refused = mistakes(preview(admin_client, THREATS, form, leaking))
    assert "contains a credential (url-password)" in refused[0]
    told = take_in(admin_client, THREATS, form, leaking, takes_credentials="on")
    assert "1 credentials were replaced before saving" in told
    assert "s3cretpass" not in str(Threat.objects.get().content)
    wrong = file.replace(b"high", b"dreadful")
    assert mistakes(preview(admin_client, THREATS, form, wrong))[0].startswith("Line 2: content: ")
