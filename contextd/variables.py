"""What a context tells its tools: values that no caller sees, such as keys of other services."""

from collections.abc import Mapping
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from contextd.callers import Caller


class ReadVariables(Protocol):
    """The values of the caller's context by name; raises Invalid for one that is unreadable."""

    def __call__(self, caller: Caller) -> Mapping[str, str]: ...


def of(caller: Caller) -> Mapping[str, str]:
    """For operations, on behalf of the caller whose call they serve."""
    read: ReadVariables = import_string(settings.CONTEXTD_VARIABLES)
    return read(caller)
