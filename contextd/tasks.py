from celery import shared_task

from contextd import sessions


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def end_idle_sessions() -> int:
    return sessions.end_idle()
