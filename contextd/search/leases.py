"""One worker at a time embeds for a space; if it dies, the next one can take over soon."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from contextd.search.models import Space

DURATION = timedelta(seconds=60)


class Lease:
    """The right to embed for a space until `until`; it is renewed while there is work."""

    def __init__(self, space: str) -> None:
        self._space = space
        self._until: datetime | None = None

    def take(self) -> bool:
        now = timezone.now()
        is_free = Q(leased_until__isnull=True) | Q(leased_until__lt=now)
        return self._replace(is_free, now + DURATION)

    def renew(self) -> bool:
        """Renew the lease; return whether it was still ours."""
        return self._replace(Q(leased_until=self._until), timezone.now() + DURATION)

    def give_back(self) -> None:
        self._replace(Q(leased_until=self._until), None)

    def _replace(self, condition: Q, until: datetime | None) -> bool:
        self._until = until
        spaces = Space.objects.filter(condition, name=self._space)
        return bool(spaces.update(leased_until=until))


@contextmanager
def leased(space: str) -> Iterator[Lease | None]:
    """Take the lease; yield None if another worker has it."""
    lease = Lease(space)
    if not lease.take():
        yield None
        return
    try:
        yield lease
    finally:
        lease.give_back()
