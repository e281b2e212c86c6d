"""`make bench`, skills: latency of search, lists and resources at 10,000 skills."""

from itertools import islice
from typing import Any

from benchmarks import report, scratch, server
from benchmarks.checkpoints import asked, figures, measure, texts
from benchmarks.client import Client
from benchmarks.notes import checkpoint_of

SIZE = 10_000
STORED_AT_ONCE = 200
ASKED = 400
CATEGORIES = ["debugging", "deployment", "analysis", "testing", "security"]
KEPT = server.ROOT / ".contextd-bench-skills"


def fill() -> int:
    """Fill a database that is kept between runs; return the number of passages."""
    from django.db import connection, transaction

    from contextd import search
    from contextd.search.models import Passage
    from skills import services
    from skills.models import Skill

    there = Skill.objects.count()
    numbered = list(enumerate(islice(texts(), SIZE)))[there:]
    for start in range(0, len(numbered), STORED_AT_ONCE):
        batch = numbered[start : start + STORED_AT_ONCE]
        prepared = search.prepare_many([text_of(text) for _, text in batch])
        with transaction.atomic():
            made = Skill.objects.bulk_create(
                skill(number, text, one.token_count)
                for (number, text), one in zip(batch, prepared, strict=True)
            )
            stored = {one.pk: words for one, words in zip(made, prepared, strict=True)}
            search.store_many(services.DOMAIN, None, stored)
    if numbered:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    return Passage.objects.count()


def text_of(text: str) -> tuple[str, str]:
    """Return headline and body."""
    parts = checkpoint_of(text)
    return parts["summary"], parts["description"]


def skill(number: int, text: str, tokens: int) -> Any:
    from skills.models import Skill

    name, content = text_of(text)
    description = name[:200]
    return Skill(
        name=description,
        slug=f"skill-{number}",
        description=description,
        content=content or name,
        version="1.0.0",
        author="bench",
        category=CATEGORIES[number % len(CATEGORIES)],
        tags=[f"tag-{number % 10}"],
        front_matter={"name": f"skill-{number}", "description": description},
        token_count=tokens,
        created_by="bench",
    )


def average_length() -> int:
    from django.db.models import Avg
    from django.db.models.functions import Length

    from skills.models import Skill

    mean: float = Skill.objects.aggregate(mean=Avg(Length("content")))["mean"]
    return round(mean)


def main() -> None:
    with server.running(KEPT) as running:
        scratch.use_data_of(KEPT)
        passages = fill()
        server.wait_until_idle(running)
        client = Client(running.port)
        measure(client, "skill_search", [{"query": f"warm {n}"} for n in range(20)])
        queries = asked()[:ASKED]
        everywhere = measure(client, "skill_search", [{"query": query} for query in queries])
        filtered = measure(
            client,
            "skill_search",
            [{"query": f"{query} ", "category": "testing", "tags": ["tag-3"]} for query in queries],
        )
        listed = measure(client, "skill_list", [{"sort_by": "success_rate"}] * 200)
        length = average_length()
    rows = [
        ["`skill_search`", *figures(everywhere)],
        ["`skill_search`, one category and one tag", *figures(filtered)],
        ["`skill_list`, by success", *figures(listed)],
    ]
    text = (
        f"{SIZE} skills of real texts ({passages} passages, all embedded by the model), returned "
        f"whole, {length} characters on average; raw keep-alive HTTP to `/mcp`, protocol "
        "2026-07-28, one client, warm, every query new, rate limits off.\n\n"
        f"{report.table(['call', 'p50 ms', 'p95 ms', 'p99 ms', 'calls'], rows)}"
    )
    report.write("skills", "Skills: speed", "make bench", text)


if __name__ == "__main__":
    main()
