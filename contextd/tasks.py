from celery import shared_task

from contextd import detached, jobs, sessions


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def end_idle_sessions() -> int:
    return sessions.end_idle()


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def forget_detached_calls() -> int:
    return detached.forget_expired()


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def sweep_jobs() -> int:
    return jobs.sweep()
