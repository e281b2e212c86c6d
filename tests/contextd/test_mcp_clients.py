"""Clients that people use, from npm, against real servers of ours."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.node import NODE, needs_node, node, program
from tests.server import ROOT, Server

pytestmark = needs_node

SECONDS = 120
STDIO = [sys.executable, str(ROOT / "manage.py"), "mcp_stdio"]


def run(command: list[str], **options: Any) -> str:
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, **options
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return str(ended.stdout)


def inspect(environment: Mapping[str, str], *arguments: str) -> Any:
    script = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    return json.loads(run([*node(script), "--cli", *arguments], env=environment))


@pytest.fixture
def home(environment: Mapping[str, str], tmp_path: Path) -> Mapping[str, str]:
    """Return a home folder of nobody, so that no file of this machine's user is used."""
    own = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    return {
        **environment,
        **own,
        "DISABLE_AUTOUPDATER": "1",
        "PATH": f"{NODE.parent}:/usr/bin:/bin",
    }


def test_claude_connects_over_http(server: Server, home: Mapping[str, str], tmp_path: Path) -> None:
    claude = [str(program("claude")), "mcp"]
    add = [*claude, "add", "--transport", "http", "contextd", f"{server.url}/mcp"]
    run(add, env=home, cwd=tmp_path)

    assert "Connected" in run([*claude, "list"], env=home, cwd=tmp_path)


def test_claude_connects_over_stdio(home: Mapping[str, str], tmp_path: Path) -> None:
    claude = [str(program("claude")), "mcp"]
    run([*claude, "add", "contextd", "--", *STDIO], env=home, cwd=tmp_path)

    assert "Connected" in run([*claude, "list"], env=home, cwd=tmp_path)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_over_http(
    server: Server, home: Mapping[str, str], era: str
) -> None:
    where = (f"{server.url}/mcp", "--transport", "http", "--protocol-era", era, "--method")

    tools = inspect(home, *where, "tools/list")["tools"]
    call = ("tools/call", "--tool-name", "door_echo", "--tool-arg", "text=hello")
    result = inspect(home, *where, *call)

    assert "checkpoint_save" in {tool["name"] for tool in tools}
    assert json.loads(result["content"][0]["text"])["text"] == "hello"


def test_the_inspector_lists_over_stdio(home: Mapping[str, str]) -> None:
    # It hands on little of its own environment.
    names = ("DATABASE_URL", "REDIS_URL", "CONTEXTD_DATA_DIR", "DJANGO_SETTINGS_MODULE")
    given = [part for name in names for part in ("-e", f"{name}={home[name]}")]

    listed = inspect(home, *given, *STDIO, "--method", "prompts/list")

    assert [prompt["name"] for prompt in listed["prompts"]] == ["resume", "threat_review"]
