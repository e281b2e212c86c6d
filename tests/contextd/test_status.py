"""`status`, /healthz and /readyz."""

from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client

from contextd import status
from tests.conftest import Call

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_tells_version_uptime_and_every_service(call: Call) -> None:
    answer = call("status")

    assert answer.version == "0.1.0"
    assert answer.uptime
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
