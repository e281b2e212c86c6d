"""The Celery application: `celery -A contextd worker`."""

import os
import warnings
from typing import Any

from celery import Celery, bootsteps, signals
from celery.beat import EmbeddedService
from celery.exceptions import SecurityWarning
from click import Option

from contextd import pool, telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextd.settings")

app = Celery("contextd")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()
# As root, Celery warns that messages might be code; ours are JSON, its default.
warnings.simplefilter("ignore", SecurityWarning)


class Clock(bootsteps.StartStopStep):  # type: ignore[misc]
    """Sends scheduled tasks from a thread; a `--beat` process could be left over."""

    conditional = True

    def __init__(self, worker: Any, clock: bool = False, **options: Any) -> None:
        self.enabled = clock
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        return EmbeddedService(worker.app, thread=True)


app.steps["worker"].add(Clock)
app.user_options["worker"].add(Option(["--clock"], is_flag=True, help="Also run the scheduler"))


def keep_logging(**kwargs: Any) -> None:
    """Keep the logging of `settings.LOGGING`: Celery does if anything listens to this signal."""


def begin(**kwargs: Any) -> None:
    telemetry.set_up("worker")
    pool.keep_connections()


def end(**kwargs: Any) -> None:
    telemetry.shut_down()


signals.setup_logging.connect(keep_logging)
signals.worker_init.connect(begin)
signals.worker_shutdown.connect(end)
signals.worker_process_shutdown.connect(end)
