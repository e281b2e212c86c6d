"""`status`, /healthz and /readyz."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from django.db import DatabaseError
from django.test import Client

from contextd import status
from tests.conftest import Call
from tests.server import ROOT, Server, free_port

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_tells_version_uptime_and_every_service(call: Call) -> None:
    answer = call("status")

    assert answer.version == "0.1.0"
    assert {"database", "migrations", "broker", "worker", "embedding", "checkpoint"} <= set(
        answer.services
    )
    assert answer.services["database"].status == "healthy"
    assert answer.services["embedding"].status == "healthy"
    assert answer.metrics.tools_available >= 8


def test_without_a_worker_it_is_degraded_and_says_what_to_do(call: Call) -> None:
    answer = call("status")

    assert answer.status == "degraded"
    assert "no worker answers" in answer.services["worker"].error


def test_the_web_server_knows_since_when_it_runs(http: httpx2.Client) -> None:
    answer = http.post("/api/v1/status", json={}).json()

    assert answer["metrics"]["mcp_server"] == "running"
    assert answer["uptime"]


def test_from_elsewhere_the_web_server_is_asked(call: Call, server: Server, settings: Any) -> None:
    port = int(server.url.rpartition(":")[2])
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"http_port": port})
    answer = call("status")

    assert answer.metrics.mcp_server == "running"
    assert answer.uptime != "0:00:00"


def test_without_a_web_server_it_says_so(call: Call, settings: Any) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"http_port": free_port()})
    answer = call("status")

    assert answer.metrics.mcp_server == "not running"
    assert answer.uptime == "0:00:00"


def test_no_message_shows_an_address_or_a_credential(environment: Mapping[str, str]) -> None:
    unreachable = {
        "REDIS_URL": "redis://me:hunter2@127.0.0.1:1/0",
        "EMBEDDING_BASE_URL": "http://me:hunter2@127.0.0.1:1/v1",
    }

    services = status_of_cli({**environment, **unreachable})["services"]

    ill = {name for name, service in services.items() if service["status"] == "unhealthy"}
    told = json.dumps(services)
    assert {"broker", "worker", "embedding"} <= ill
    assert "hunter2" not in told
    assert "://" not in told
    assert "127.0.0.1" not in told


def status_of_cli(environment: Mapping[str, str]) -> Any:
    command = [sys.executable, "manage.py", "call", "status"]
    shipped = {**environment, "DJANGO_SETTINGS_MODULE": "contextd.settings"}
    return json.loads(subprocess.check_output(command, cwd=ROOT, env=shipped, timeout=120))


def test_without_redis_it_is_degraded(call: Call, settings: Any) -> None:
    address = "unix:///nowhere/redis.sock"
    settings.CACHES = {
        **settings.CACHES,
        "default": {**settings.CACHES["default"], "LOCATION": address},
    }

    assert call("status").services["broker"].status == "unhealthy"


def test_without_a_vital_part_it_is_unhealthy(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_cursor() -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr("contextd.status.connection.cursor", no_cursor)
    services = status.probe_all(vital_only=True)

    assert status.overall(services) == "unhealthy"
    assert "does not answer" in (services["database"].error or "")


def test_a_probe_that_breaks_is_unknown_and_tells_nothing_inner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise ValueError("secret inner text")

    monkeypatch.setitem(status._checks, "broken", status.Check("broken", broken, vital=False))
    service = status.probe_all()["broken"]

    assert service.status == "unknown"
    assert "inner" not in (service.error or "")


def test_the_process_says_that_it_lives(client: Client) -> None:
    assert client.get("/healthz").status_code == 200


def test_the_server_is_ready_when_database_and_model_are(client: Client) -> None:
    from contextd import search

    search.warm_up()

    assert client.get("/readyz").json() == {"status": "ready", "missing": {}}
