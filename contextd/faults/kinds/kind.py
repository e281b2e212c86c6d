"""What a kind of error is known by."""

from typing import NamedTuple


class Kind(NamedTuple):
    """The names of its types and codes, and what its messages say in lower case."""

    name: str
    types: str
    phrases: str
