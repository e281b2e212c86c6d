from celery import shared_task

from analytics import tallying


@shared_task  # type: ignore[untyped-decorator]  # Celery has no types
def roll_up() -> None:
    tallying.roll_up()
