"""Threats over MCP beside tools: resources, completion, the review prompt; and the other tools."""

import json
from pathlib import Path
from typing import Any

import mcp.types as protocol
import pytest

from tests.clients import VERSIONS, over_http, text_of
from tests.server import Server

pytestmark = [pytest.mark.anyio, pytest.mark.django_db(transaction=True)]

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("threat_get", {"id": "TMKB-INJ-001"}, "id"),
    ("threat_list", {"category": "injection"}, "threats"),
    ("threats_for_files", {"paths": ["shop/tasks.py"]}, "threats"),
    ("threat_checklist", {"areas": ["background jobs"]}, "points"),
]


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
async def test_the_tools_answer(server: Server, few: Path, version: str) -> None:
    async with over_http(server, version) as session:
        for name, arguments, field in CALLS:
            answer = await session.call_tool(name, arguments)

            assert not answer.is_error
            assert json.loads(text_of(answer))[field]


async def test_each_threat_is_a_resource(server: Server, few: Path) -> None:
    async with over_http(server, VERSIONS[-1]) as session:
        listed = (await session.list_resources()).resources
        read = await session.read_resource("threat://TMKB-AUTHZ-001")
        reference = protocol.ResourceTemplateReference(uri="threat://{threat_id}")
        completed = await session.complete(reference, {"name": "threat_id", "value": "inj"})

    uris = {str(resource.uri) for resource in listed}
    content = read.contents[0]
    assert {"threat://TMKB-AUTHZ-001", "threat://TMKB-INJ-001"} <= uris
    assert isinstance(content, protocol.TextResourceContents)
    assert content.text.startswith("# TMKB-AUTHZ-001: Background job")
    assert "```python" in content.text
    assert completed.completion.values == ["TMKB-INJ-001", "TMKB-INJ-003"]


async def test_a_review_says_which_lines_it_did_not_look_up(server: Server, few: Path) -> None:
    work = "\n".join(f"part {number} of the export" for number in range(21))
    async with over_http(server, VERSIONS[-1]) as session:
        prompt = await session.get_prompt("threat_review", {"work": work})

    content = prompt.messages[0].content
    assert isinstance(content, protocol.TextContent)
    assert "Only the first 20 of 21 lines were looked up." in content.text


async def test_a_person_can_have_work_reviewed(server: Server, few: Path) -> None:
    async with over_http(server, VERSIONS[-1]) as session:
        prompt = await session.get_prompt(
            "threat_review", {"work": "background jobs\npassword reset", "language": "python"}
        )

    content = prompt.messages[0].content
    assert isinstance(content, protocol.TextContent)
    assert "TMKB-AUTHZ-001 (high)" in content.text
    assert "TMKB-AUTHN-001" in content.text
