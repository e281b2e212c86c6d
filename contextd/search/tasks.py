from celery import shared_task

from contextd.search import backlog


@shared_task
def embed_pending() -> int:
    return backlog.embed_pending()
