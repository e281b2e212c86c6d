"""Choose the format of an answer. A module of its own, since DRF's views import it."""

from collections.abc import Iterable

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer


class Negotiation(DefaultContentNegotiation):
    def filter_renderers(
        self, renderers: Iterable[BaseRenderer], format: str
    ) -> list[BaseRenderer]:
        """Return the renderers of the format. Raises NotAcceptable if there are none."""
        available = list(renderers)
        matching = [renderer for renderer in available if renderer.format == format]
        if not matching:
            known = ", ".join(str(renderer.format) for renderer in available)
            raise NotAcceptable(f"the format {format[:100]!r} is not available; there are: {known}")
        return matching
