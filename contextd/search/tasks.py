from celery import shared_task

from contextd.search import backlog


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def embed_pending() -> int:
    return backlog.embed_pending()
