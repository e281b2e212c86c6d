"""What a small team may have kept and called: shown by screenshots, looked at by tests."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from analytics.models import Event, WorkSession
from contextd.models import Project
from remediations.models import Remediation

DAYS = 30
SHOP, BLOG = "/home/ann/shop", "/home/ann/blog"
Call = Callable[..., Any]

REMEDIATIONS = [
    ("KeyError: 'price'", "KeyError", "Read it with `row.get` and a default of 0.", SHOP),
    (
        "psycopg.OperationalError: connection refused on port 5432",
        "OperationalError",
        "Start the database first: `docker compose up -d db`.",
        SHOP,
    ),
    (
        "ModuleNotFoundError: No module named 'yaml'",
        "ModuleNotFoundError",
        "Install PyYAML in the image, not only on the laptop.",
        None,
    ),
    (
        "TypeError: Cannot read properties of undefined (reading 'map')",
        "TypeError",
        "Wait for the posts before the list is rendered.",
        BLOG,
    ),
]
CHECKPOINTS = [
    ("Checkout computes the price with tax; refunds come next", SHOP, ["checkout"]),
    ("Connection pool of the shop sized, load test to be repeated", SHOP, ["database"]),
    ("Posts load lazily; pictures still block the first paint", BLOG, ["performance"]),
]
SKILLS = [
    ("Review a pull request", "review", "Read the tests first, then the change."),
    ("Release the shop", "release", "Tag it, wait for the pipeline, announce it."),
]
# What is called: by which client, how often a day, how long it takes, and every how manieth fails.
CALLED = [
    ("remediation_search", "claude-code", 9, 38.0, 23),
    ("checkpoint_search", "claude-code", 6, 31.0, 0),
    ("checkpoint_save", "claude-code", 5, 52.0, 31),
    ("repository_search", "cursor", 7, 44.0, 19),
    ("skill_apply", "cursor", 3, 12.0, 0),
    ("remediation_save", "vs-code", 2, 61.0, 0),
    ("troubleshoot", "vs-code", 2, 180.0, 11),
]
ASKED = [
    "connection refused on port 5432",
    "KeyError: 'price'",
    "segmentation fault in libvips",
    "certificate has expired",
]


def keep_records(call: Call) -> None:
    """By the operations that assistants use; `call` runs one."""
    for path in (SHOP, BLOG):
        call("checkpoint_save", summary="Cloned, tests pass", project_path=path)
    for error, kind, solution, of_project in REMEDIATIONS:
        given = {"project_path": of_project} if of_project else {}
        call("remediation_save", error_message=error, error_type=kind, solution=solution, **given)
    for summary, project, tags in CHECKPOINTS:
        call("checkpoint_save", summary=summary, project_path=project, tags=tags)
    for name, category, content in SKILLS:
        call(
            "skill_create",
            name=name,
            description=f"{name}, as this team does it",
            content=f"# {name}\n\n{content}\n",
            version="1.0.0",
            author="Ann",
            category=category,
        )


def keep_calls() -> None:
    """Of each of the last days, in a rhythm that is the same each time; after `keep_records`."""
    Event.objects.bulk_create(
        event for days_ago in range(DAYS) for event in _calls_of_day(days_ago)
    )


def _calls_of_day(days_ago: int) -> Iterator[Event]:
    now = timezone.now()
    at = now - timedelta(days=days_ago)
    projects = list(Project.objects.order_by("pk"))
    known = list(Remediation.objects.order_by("pk").values_list("pk", flat=True))
    numbers = count(days_ago * 7)
    for operation, client, often, milliseconds, every in CALLED:
        session = WorkSession.objects.create(
            key=f"{client} {days_ago}", client=client, context="default", door="mcp",
            projects=[projects[0].pk], began_at=at, ended_at=at,
        )  # fmt: skip
        for _ in range(often + (days_ago * 5) % 4 - days_ago // 9):
            number = next(numbers)
            yield Event(
                at=at,
                session=session,
                project=projects[number % len(projects)],
                context="default",
                client=client,
                door="mcp",
                operation=operation,
                outcome="timeout" if every and number % every == 0 else "ok",
                milliseconds=milliseconds * (1 + (number * 37 % 50) / 40),
                **_asked(operation, number, known),
            )


def _asked(operation: str, number: int, known: list[int]) -> dict[str, Any]:
    """What a search has found, or what a call was about."""
    if operation.endswith("_search"):
        found = [] if number % 4 > 1 else known[:2]
        return {
            "domain": operation.partition("_")[0],
            "query": ASKED[number % len(ASKED)],
            "found": found,
            "returned": len(found),
            "searched_tokens": 40_000,
            "returned_tokens": 600,
            "was_useful": bool(found) and number % 3 > 0,
            "lookups": 1,
            "cached": number % 2,
        }
    return {"domain": "remediation", "used": known[number % len(known)]}
