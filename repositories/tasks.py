from celery import shared_task

from repositories import services


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def index(job_id: int) -> None:
    services.index(job_id)
