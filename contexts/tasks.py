from celery import shared_task

from contexts import audit


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def expire_audit() -> None:
    audit.expire()
