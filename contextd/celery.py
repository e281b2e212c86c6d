"""The Celery application: `celery -A contextd worker`."""

import os
from typing import Any

from celery import Celery, signals

from contextd import telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextd.settings")

app = Celery("contextd")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()


def keep_logging(**kwargs: Any) -> None:
    """Celery leaves logging as `settings.LOGGING` has it when anything listens to that signal."""


def begin(**kwargs: Any) -> None:
    telemetry.set_up("worker")


def end(**kwargs: Any) -> None:
    telemetry.shut_down()


signals.setup_logging.connect(keep_logging)
signals.worker_init.connect(begin)
signals.worker_shutdown.connect(end)
signals.worker_process_shutdown.connect(end)
