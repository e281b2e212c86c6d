"""100,000 checkpoints and 100,000 recorded calls, most of them copied within the database.

A copy of a checkpoint has the same words and a nearby vector, and belongs to one of five projects.
"""

import random
from itertools import islice
from typing import Any

from django.db import connection, transaction

from analytics import tallying
from analytics.models import Event
from benchmarks.checkpoints import texts
from benchmarks.notes import checkpoint_of
from checkpoints.models import Checkpoint
from checkpoints.services import DOMAIN
from contextd import search
from contextd.models import Project
from contextd.search import vectors
from contextd.search.models import Collection, Passage, Space

SIZE = 100_000
FIRST = 1_000
PROJECTS = 5
STORED_AT_ONCE = 25
SEED = 9
SHIFT = 0.02
"""The largest difference between a copy's vector and the original, per component."""

COPIES = """
INSERT INTO checkpoints_checkpoint (id, project_id, project_path, summary, description, context,
    tags, token_count, created_by, created_at, updated_at)
SELECT id + copy * %(checkpoints)s, (%(projects)s::bigint[])[1 + copy %% %(of)s], project_path,
    summary, description, context, tags, token_count, created_by,
    now() - random() * interval '90 days', now()
FROM checkpoints_checkpoint, generate_series(1, %(copies)s) AS copy;

INSERT INTO search_passage (id, collection_id, record_id, ordinal, headline, text, first_line,
    last_line, content_hash, words)
SELECT id + copy * %(passages)s, (%(collections)s::int[])[1 + copy %% %(of)s],
    record_id + copy * %(checkpoints)s, ordinal, headline, text, first_line, last_line,
    content_hash, words
FROM search_passage, generate_series(1, %(copies)s) AS copy
WHERE collection_id = ANY(%(collections)s);

INSERT INTO search_posting (term, collection_id, passage_id, weight)
SELECT term, (%(collections)s::int[])[1 + copy %% %(of)s], passage_id + copy * %(passages)s, weight
FROM search_posting, generate_series(1, %(copies)s) AS copy
WHERE collection_id = ANY(%(collections)s)
ORDER BY 1, 2, 3;

INSERT INTO search_embedding (passage_id, space_id, collection_id, record_id, vector)
SELECT passage_id + copy * %(passages)s, space_id, (%(collections)s::int[])[1 + copy %% %(of)s],
    record_id + copy * %(checkpoints)s, vector + (%(shifts)s::text[])[copy]::halfvec
FROM search_embedding, generate_series(1, %(copies)s) AS copy
WHERE collection_id = ANY(%(collections)s);

DELETE FROM search_termcount WHERE collection_id = ANY(%(collections)s);
INSERT INTO search_termcount (term, collection_id, passages)
SELECT term, collection_id, count(*) FROM search_posting
WHERE collection_id = ANY(%(collections)s) GROUP BY term, collection_id;

UPDATE search_collection AS collection SET passages = counted.number
FROM (SELECT collection_id, count(*) AS number FROM search_passage GROUP BY collection_id)
    AS counted
WHERE counted.collection_id = collection.id;

SELECT setval(pg_get_serial_sequence('checkpoints_checkpoint', 'id'), max(id))
FROM checkpoints_checkpoint;
SELECT setval(pg_get_serial_sequence('search_passage', 'id'), max(id)) FROM search_passage;
"""

# The operation, its share in percent, and what it searched or was about.
CALLS = """
INSERT INTO analytics_worksession (key, principal, client, context, door, projects, calls,
    began_at, ended_at)
SELECT 'bench-' || n, 'user:' || n %% 40, 'client ' || n %% 12, 'default', 'mcp', '{}', 20,
    began, began + interval '20 minutes'
FROM generate_series(1, %(sessions)s) AS n,
    LATERAL (SELECT now() - random() * interval '90 days' - n * interval '0 s' AS began);

INSERT INTO analytics_event (at, session_id, project_id, context, principal, client, door,
    operation, outcome, milliseconds, domain, query, found, searched_tokens, returned_tokens,
    was_useful, used, helped, lookups, cached)
SELECT session.began_at + n * interval '1 minute', session.id,
    (%(projects)s::bigint[])[1 + session.id %% %(of)s], 'default', session.principal,
    session.client, 'mcp', operation, CASE WHEN chance < 0.04 THEN 'not_found' ELSE 'ok' END,
    exp(3 + 2 * chance), domain,
    CASE WHEN is_search THEN 'query ' || round(700 * chance ^ 3) ELSE '' END,
    CASE WHEN NOT is_search THEN NULL WHEN chance < 0.2 THEN '{}'::bigint[]
        ELSE ARRAY(SELECT round(chance * part * %(records)s)
            FROM unnest('{0.2,0.4,0.6,0.8,1}'::float[]) AS part)::bigint[] END,
    CASE WHEN is_search THEN 1000000 END, CASE WHEN is_search THEN 900 END,
    CASE WHEN is_search AND chance > 0.6 THEN true END,
    CASE WHEN NOT is_search AND domain <> '' THEN 1 + round(chance ^ 3 * %(records)s) END,
    CASE WHEN NOT is_search AND domain <> '' THEN chance > 0.1 END,
    is_search::int, (chance > 0.7)::int
FROM analytics_worksession AS session, generate_series(0, %(calls)s - 1) AS n,
    LATERAL (SELECT random() + 0 * n AS chance),
    LATERAL (SELECT (ARRAY['checkpoint_search', 'remediation_search', 'checkpoint_save',
        'checkpoint_get', 'skill_apply', 'remediation_get', 'repository_search', 'status',
        'remediation_feedback', 'checkpoint_list'])[1 + n %% 10] AS operation),
    LATERAL (SELECT operation LIKE '%%_search' AS is_search,
        CASE WHEN operation IN ('status', 'checkpoint_list') THEN ''
            WHEN operation = 'repository_search' THEN 'file'
            ELSE split_part(operation, '_', 1) END AS domain)
WHERE session.key LIKE 'bench-%%';
"""
CALLS_OF_SESSION = 20


def fill() -> str:
    """Fill a database that is kept between runs, unless it is full; return what it holds."""
    projects = [Project.objects.get_or_create(name=f"team {n}")[0].pk for n in range(PROJECTS)]
    if Checkpoint.objects.count() < SIZE:
        store_first(projects[0])
        copy_them(projects)
    if Event.objects.count() < SIZE:
        record_calls(projects)
        tallying.roll_up()
        run("VACUUM ANALYZE")
    return (
        f"{Checkpoint.objects.count()} checkpoints ({Passage.objects.count()} passages, including "
        f"shipped records), copied from {FIRST} of real texts, in {PROJECTS} projects, and "
        f"{Event.objects.count()} recorded calls of 90 days"
    )


def store_first(project: int) -> None:
    kept = [checkpoint_of(text) for text in islice(texts(), FIRST)]
    for start in range(Checkpoint.objects.count(), FIRST, STORED_AT_ONCE):
        batch = kept[start : start + STORED_AT_ONCE]
        prepared = search.prepare_many([(one["summary"], one["description"]) for one in batch])
        with transaction.atomic():
            made = Checkpoint.objects.bulk_create(
                Checkpoint(
                    **one,
                    project_id=project,
                    project_path="/bench",
                    token_count=text.token_count,
                    created_by="bench",
                )
                for one, text in zip(batch, prepared, strict=True)
            )
            stored = {one.pk: text for one, text in zip(made, prepared, strict=True)}
            search.store_many(DOMAIN, project, stored)


def copy_them(projects: list[int]) -> None:
    """Copy without the vector index, since building it once at the end is faster."""
    space = Space.objects.get()
    collections = [
        Collection.objects.get_or_create(domain=DOMAIN, project_id=project)[0].pk
        for project in projects
    ]
    copies = SIZE // FIRST - 1
    chance = random.Random(SEED)  # noqa: S311  (no secret)
    shifts = [
        vectors.as_text([chance.uniform(-SHIFT, SHIFT) for _ in range(space.dimensions)])
        for _ in range(copies)
    ]
    with transaction.atomic():
        run(f"DROP INDEX IF EXISTS {vectors.index_name(space.name)}")
        run(
            COPIES,
            projects=projects,
            collections=collections,
            copies=copies,
            shifts=shifts,
            of=PROJECTS,
            checkpoints=Checkpoint.objects.latest("pk").pk,
            passages=Passage.objects.latest("pk").pk,
        )
        for collection in collections:
            vectors.recount(collection)
        run("SET CONSTRAINTS ALL IMMEDIATE; SET LOCAL maintenance_work_mem = '1GB'")
        vectors.create_index(space.name, space.dimensions)


def record_calls(projects: list[int]) -> None:
    run(
        CALLS,
        projects=projects,
        of=PROJECTS,
        records=SIZE,
        sessions=SIZE // CALLS_OF_SESSION,
        calls=CALLS_OF_SESSION,
    )


def run(statements: str, **parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(statements, parameters or None)
