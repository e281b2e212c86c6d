"""What people change in the admin is what assistants get."""

import json
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Page, expect

from tests.clients import MODERN_VERSION, over_http, text_of
from tests.server import Server

SKILL = b"""\
---
name: ship-it
description: How this team ships. Use when somebody asks for a release.
---

# Ship it

1. Wait for the *green* build.
2. Tag it.
"""
ASKED = "Connection to the mail server was refused"


def over_mcp(server: Server, name: str, **arguments: Any) -> Any:
    """What the tool answers to the SDK's client; its loop is not that of the browser."""

    async def answer() -> Any:
        async with over_http(server, MODERN_VERSION) as session:
            return json.loads(text_of(await session.call_tool(name, arguments)))

    with start_blocking_portal() as portal:
        return portal.call(answer)


def test_a_skill_made_from_markdown_is_served_over_mcp(
    curator: Page, server: Server, tmp_path: Path
) -> None:
    document = tmp_path / "SKILL.md"
    document.write_bytes(SKILL)

    curator.goto("/admin/skills/skill/")
    curator.get_by_role("link", name="Take in SKILL.md files").click()
    curator.locator("#id_file").set_input_files(document)
    curator.get_by_role("button", name="Take in").click()
    expect(curator.get_by_text("new: ship-it")).to_be_visible()

    (listed,) = over_mcp(server, "skill_list")["skills"]
    served = over_mcp(server, "skill_get", id=listed["id"])
    assert served["name"] == "ship-it"
    assert "1. Wait for the *green* build." in served["content"]


def test_a_remediation_that_is_edited_comes_first(
    curator: Page, server: Server, http: httpx2.Client
) -> None:
    for error, solution in [
        ("Connection to the server was refused", "Start the server"),
        ("The mail server did not answer", "Open the port in the firewall"),
    ]:
        saved = {"error_message": error, "error_type": "Error", "solution": solution}
        assert http.post("/api/v1/remediation_save", json=saved).status_code == 200
    assert ranked(server) == ["Start the server", "Open the port in the firewall"]

    curator.goto("/admin/remediations/remediation/")
    curator.get_by_role("link", name="The mail server did not answer").click()
    curator.get_by_label("Error message").fill(ASKED)
    curator.get_by_role("button", name="Save", exact=True).click()
    expect(curator.get_by_text("was changed successfully")).to_be_visible()

    assert ranked(server) == ["Open the port in the firewall", "Start the server"]


def ranked(server: Server) -> list[str]:
    found = over_mcp(server, "remediation_search", error_message=ASKED, limit=5)
    return [result["solution"] for result in found["results"]]
