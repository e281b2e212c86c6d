"""Work that may wait until after the answer."""

import logging
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from contextd import logs

logger = logging.getLogger(__name__)


def defer(task_name: str, *args: Any) -> None:
    """Queue `app.tasks.function` once the current transaction has committed.

    A broker that is down costs time, not work: the sweepers find what was left undone.
    """
    transaction.on_commit(partial(_send, task_name, *args))


def _send(task_name: str, *args: Any) -> None:
    try:
        current_app.tasks[task_name].apply_async(args, retry=False)
    except OperationalError:
        logs.warn_seldom(logger, "jobs wait for the sweeper: the broker does not answer")
