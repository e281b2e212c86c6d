"""Servers that others publish, as they come, and what each transport must do with them."""

from contextd import operations
from gateway import offering
from tests.conftest import Call

EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js"
MEMORY = "@modelcontextprotocol/server-memory/dist/index.js"


def check_everything(call: Call) -> None:
    """Check the upstream `all`, which is the reference server with everything."""
    offered = [offer.canonical for offer in offering.offered()]

    assert "all:echo" in offered
    assert operations.get("all__echo").canonical_name == "all:echo"
    assert call("all:echo", message="hello").content == [{"type": "text", "text": "Echo: hello"}]
    assert offering.offered_prompts()
    assert offering.offered_resources(offset=0, limit=1)


def check_memory(call: Call) -> None:
    """Check the upstream `memory`, which is the reference server with a memory."""
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}

    call("memory:create_entities", entities=[ada])
    found = call("memory:search_nodes", query="programs")

    assert found.structured["entities"] == [ada]
    assert "name: Ada" in found.content[0]["text"]
