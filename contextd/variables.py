"""The variables of a context for its tools: values hidden from callers, such as API keys."""

from collections.abc import Mapping
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from contextd.callers import Caller


class ReadVariables(Protocol):
    """Returns the values of the caller's context by name; raises Invalid for an unreadable one."""

    def __call__(self, caller: Caller) -> Mapping[str, str]: ...


def of(caller: Caller) -> Mapping[str, str]:
    """Return the values, for operations that act on behalf of the caller."""
    read: ReadVariables = import_string(settings.CONTEXTD_VARIABLES)
    return read(caller)
