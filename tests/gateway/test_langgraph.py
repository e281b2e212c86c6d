"""An agent of LangGraph, as the documentation shows it, over HTTP."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.gateway.conftest import Add
from tests.server import ROOT, Server

PYTHON = ROOT / ".ci/langgraph/venv/bin/python"
AGENT = Path(__file__).with_name("scripted_agent.py")


@pytest.mark.skipif(
    not (ROOT / ".ci/langgraph/venv/installed").exists(),
    reason="langchain-mcp-adapters is missing, which needs another version of mcp: `make agents`",
)
def test_an_agent_calls_tools_of_ours_and_of_an_upstream(server: Server, add: Add) -> None:
    add()
    calls = [
        {"name": "odd__add", "args": {"a": 1, "b": 2}},
        {"name": "odd__fail", "args": {"structured": {"message": "quota is used up"}}},
        {"name": "status", "args": {}},
    ]

    ran = subprocess.run(
        [PYTHON, AGENT, f"{server.url}/mcp", json.dumps(calls)],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    messages = json.loads(ran.stdout)
    added, failed, status = [content for kind, content in messages if kind == "tool"]
    assert "sum: 3" in added
    assert "odd:fail: quota is used up" in failed
    assert "services" in status
    assert messages[-1] == ["ai", "done"]
