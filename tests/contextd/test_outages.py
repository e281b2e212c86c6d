"""What every door says while the database does not answer."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import psycopg
import pytest
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from contextd import outages
from contextd.errors import Busy, ContextdError, Internal, Unavailable
from tests.plain_http import ACCEPT, modern
from tests.server import (
    ROOT,
    environment_of_processes,
    eventually,
    free_port,
    web_process,
)

NO_ANSWER = "the database does not answer"


@pytest.fixture(scope="module")
def environment(django_db_setup: None, warm_model: None) -> Mapping[str, str]:
    gone = {"DATABASE_URL": f"postgresql://me:hunter2@127.0.0.1:{free_port()}/contextd"}
    return {**environment_of_processes(), **gone}


@pytest.fixture(scope="module")
def http(
    environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx2.Client]:
    log = tmp_path_factory.mktemp("outage") / "log"
    with (
        web_process(environment, log) as server,
        httpx2.Client(base_url=server.url, headers={"Accept": ACCEPT}, timeout=30) as client,
    ):
        assert eventually(lambda: "model" not in client.get("/readyz").json()["missing"])
        yield client


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (PoolTimeout("in vain"), Busy),
        (psycopg.OperationalError("connection refused"), Unavailable),
        (psycopg.errors.AdminShutdown("ends"), Unavailable),
        (psycopg.errors.DeadlockDetected("deadlock"), Internal),
        (None, Internal),
    ],
)
def test_what_the_database_says_is_told_as_what_it_means(
    cause: Exception | None, told: type[ContextdError]
) -> None:
    error = OperationalError("inner text")
    error.__cause__ = cause

    public = outages.as_public_error("something", error)

    assert type(public) is told
    assert "inner" not in public.message


def call_tool(http: httpx2.Client, name: str) -> Any:
    request = modern("tools/call", name=name, arguments={})
    return http.post("/mcp", **request).json()["result"]


def test_rest_tells_who_is_on_this_machine_what_is_wrong(http: httpx2.Client) -> None:
    answer = http.post("/api/v1/status", json={}).json()

    assert answer["status"] == "unhealthy"
    assert NO_ANSWER in answer["services"]["database"]["error"]
    assert answer["services"]["checkpoint"]["status"] == "unknown"


def test_mcp_tells_it_too(http: httpx2.Client) -> None:
    assert call_tool(http, "status")["structuredContent"]["status"] == "unhealthy"


def test_whatever_else_is_asked_says_so(http: httpx2.Client) -> None:
    over_rest = http.post("/api/v1/checkpoint_list", json={})
    over_mcp = call_tool(http, "checkpoint_list")
    listed = http.post("/mcp", **modern("tools/list")).json()["error"]

    assert over_rest.status_code == 503
    assert over_rest.json()["message"].startswith(NO_ANSWER)
    assert over_mcp["isError"]
    assert over_mcp["content"][0]["text"].startswith(f"[internal] {NO_ANSWER}")
    assert NO_ANSWER in listed["message"]


@pytest.mark.parametrize(
    ("address", "content_type"),
    [
        ("/dashboard/", "text/html"),
        ("/dashboard/login/", "text/html"),
        ("/admin/", "text/html"),
        ("/api/dashboard/", "application/json"),
    ],
)
def test_pages_and_their_data_say_so_to_who_is_logged_in(
    http: httpx2.Client, address: str, content_type: str
) -> None:
    answer = http.get(address, headers={"Cookie": f"sessionid={'a' * 32}"})

    assert answer.status_code == 503
    assert answer.headers["Content-Type"].startswith(content_type)
    assert NO_ANSWER in answer.text


@pytest.mark.parametrize("address", ["/api/v1/status", "/mcp"])
def test_nobody_else_is_let_in(http: httpx2.Client, address: str) -> None:
    """Whose token cannot be looked up."""
    request = modern("tools/call", name="status", arguments={})
    token = {"Authorization": "Bearer ctx_whatever"}
    answer = http.post(address, json=request["json"], headers={**request["headers"], **token})

    assert answer.status_code == 503
    assert NO_ANSWER in answer.text


def test_the_command_line_tells_it(environment: Mapping[str, str]) -> None:
    command = [sys.executable, "manage.py", "call", "status"]
    answered = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, timeout=60, check=True
    )

    assert json.loads(answered.stdout)["status"] == "unhealthy"
    assert b"Traceback" not in answered.stderr
    assert b"hunter2" not in answered.stdout + answered.stderr
