"""Servers that others publish, as they come."""

from pathlib import Path

from contextd import operations
from gateway import offering
from tests.conftest import Call
from tests.gateway.conftest import Add
from tests.node import needs_node, node

EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js"
MEMORY = "@modelcontextprotocol/server-memory/dist/index.js"


@needs_node
def test_the_reference_server_with_everything(add: Add, call: Call) -> None:
    add("all", command=node(EVERYTHING))

    offered = [offer.canonical for offer in offering.offered()]

    assert "all:echo" in offered
    assert operations.get("all__echo").canonical_name == "all:echo"
    assert call("all:echo", message="hello").content == [{"type": "text", "text": "Echo: hello"}]


@needs_node
def test_the_reference_server_with_a_memory(add: Add, call: Call, tmp_path: Path) -> None:
    settings = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    add("memory", command=node(MEMORY), settings=settings)
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}

    call("memory:create_entities", entities=[ada])
    found = call("memory:search_nodes", query="programs")

    assert found.structured["entities"] == [ada]
    assert "name: Ada" in found.content[0]["text"]
