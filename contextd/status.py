"""Checks whether everything that contextd needs works; the kernel and the apps add probes."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import QuerySet
from kombu.exceptions import OperationalError as BrokerError
from pydantic import Field
from redis.exceptions import RedisError

import contextd
from contextd import guards, operations, web
from contextd.callers import Caller
from contextd.operations import Operation, Request, Result, operation

logger = logging.getLogger(__name__)

Probe = Callable[[], list[str] | None]
"""A probe may return details, for administrators only."""
Health = Literal["healthy", "unhealthy", "unknown"]

DATABASE = "database"
WORKER_REMEMBERED_SECONDS = 5

_worker_probes = LocMemCache("worker-probes", {"TIMEOUT": WORKER_REMEMBERED_SECONDS})


class Unhealthy(Exception):
    """Raised by a probe; the message says what is wrong and what to do, and contains no address."""

    def __init__(self, message: str, details: list[str] | None = None) -> None:
        super().__init__(message)
        self.details = details


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    probe: Probe
    vital: bool
    needs_database: bool = True


_checks: dict[str, Check] = {}


def health_check(
    name: str, *, vital: bool = False, needs_database: bool = True
) -> Callable[[Probe], Probe]:
    """Register a probe, which returns if all is well and raises otherwise.

    Without a vital part the status is `unhealthy`; without another part it is `degraded`.
    """

    def register(probe: Probe) -> Probe:
        _checks[name] = Check(name, probe, vital, needs_database)
        return probe

    return register


def has_records(records: QuerySet[Any], title: str) -> bool:
    """Return whether there are any records. Raise Unhealthy if they cannot be read."""
    try:
        return records.exists()
    except DatabaseError:
        raise Unhealthy(f"{title} cannot be read; run manage.py migrate") from None


class ServiceStatus(Result):
    status: Health
    error: str | None = None
    details: Annotated[
        list[str] | None, Field(description="The state of each of its parts, if it has any")
    ] = None


SOME_PARTS = "some of its parts do not work; administrators of this server see which"
UNASKED = ServiceStatus(status="unknown", error="unknown: the database does not answer")


class Metrics(Result):
    tools_available: int
    mcp_server: str


class GetStatus(Request):
    """Report whether contextd and everything it depends on are working."""


class Status(Result):
    status: Annotated[
        Literal["healthy", "degraded", "unhealthy"],
        Field(
            description="unhealthy: the database or its schema fails; degraded: another part fails"
        ),
    ]
    version: str
    uptime: str
    services: dict[str, ServiceStatus]
    metrics: Metrics
    last_updated: datetime


@operation("status", effect="read", timeout=30, atomic=False)
def get_status(caller: Caller, request: GetStatus) -> Status:
    services, uptime = services_for(caller), web.uptime()
    return Status(
        status=overall(services),
        version=contextd.__version__,
        uptime=str(uptime or timedelta()).partition(".")[0],
        services=services,
        metrics=Metrics(
            tools_available=len(usable_by(caller)),
            mcp_server="not running" if uptime is None else "running",
        ),
        last_updated=datetime.now(UTC),
    )


def usable_by(caller: Caller) -> list[Operation]:
    if caller.entry.is_fallback:
        return []
    return [one for one in operations.available() if guards.may_use(one, caller)]


def services_for(caller: Caller) -> dict[str, ServiceStatus]:
    """Return the services; the parts of one, such as upstreams, may belong to another context."""
    services = probe_all()
    if caller.is_local or (caller.entry.permission == "manage" and "*" in caller.entry.tools):
        return services
    return {name: without_parts(service) for name, service in services.items()}


def without_parts(service: ServiceStatus) -> ServiceStatus:
    error = SOME_PARTS if service.details and service.error else service.error
    return service.model_copy(update={"details": None, "error": error})


def probe_all(*, vital_only: bool = False) -> dict[str, ServiceStatus]:
    services = {DATABASE: _run(_checks[DATABASE])}
    is_there = services[DATABASE].status == "healthy"
    for name, check in _checks.items():
        if name != DATABASE and (check.vital or not vital_only):
            # Each check would wait without success, and `status` would take too long.
            can_be_asked = is_there or not check.needs_database
            services[name] = _run(check) if can_be_asked else UNASKED
    return services


def overall(services: dict[str, ServiceStatus]) -> Literal["healthy", "degraded", "unhealthy"]:
    ill = [_checks[name] for name, service in services.items() if service.status != "healthy"]
    if any(check.vital for check in ill):
        return "unhealthy"
    return "degraded" if ill else "healthy"


def _run(check: Check) -> ServiceStatus:
    try:
        return ServiceStatus(status="healthy", details=check.probe())
    except Unhealthy as error:
        return ServiceStatus(status="unhealthy", error=str(error), details=error.details)
    except Exception:
        logger.exception("the %s check failed", check.name)
        return ServiceStatus(status="unknown", error="the check itself failed; see the log")


@health_check(DATABASE, vital=True)
def probe_database() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        raise Unhealthy("the database does not answer; is it running (DATABASE_URL)?") from None


@health_check("migrations", vital=True)
def probe_migrations() -> None:
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        raise Unhealthy("the database does not answer") from None
    if plan:
        raise Unhealthy(f"{len(plan)} migrations are not applied; run manage.py migrate")


@health_check("broker", needs_database=False)
def probe_broker() -> None:
    try:
        cache.set("contextd:probe", 1, timeout=10)
        remembered = cache.get("contextd:probe")
    except RedisError:
        raise Unhealthy("Redis does not answer (REDIS_URL)") from None
    if remembered != 1:
        raise Unhealthy("Redis forgets what is written to it")


@health_check("worker", needs_database=False)
def probe_worker() -> None:
    if problem := _worker_probes.get_or_set("problem", _problem_of_worker):
        raise Unhealthy(problem)


def _problem_of_worker() -> str:
    from celery import current_app

    try:
        answers = current_app.control.ping(timeout=1.0, limit=1)
    except (BrokerError, RedisError, OSError):
        return "the broker does not answer, so no worker can be reached"
    return "" if answers else "no worker answers; indexing and late embedding wait (manage.py up)"
