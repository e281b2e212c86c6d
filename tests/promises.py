"""Checks that answers conform to an OpenAPI document, whatever the request.

`PROMISE_EXAMPLES=200 make promises` tries more requests than the tests do.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

PROMISES = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]

application = get_wsgi_application()


def from_this_machine(environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    own = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost"}
    return application({**environment, **own}, start)


def check(document: str, *, examples: int) -> list[str]:
    """Try that many requests of each address, always the same; return the addresses."""
    schema = schemathesis.openapi.from_wsgi(document, from_this_machine)
    tried = settings(
        max_examples=int(os.environ.get("PROMISE_EXAMPLES", examples)),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[*HealthCheck],
    )
    found: list[Any] = [*schema.get_all_operations()]
    addresses = [one.ok() for one in found]
    for address in addresses:
        keeps_its_promises(address, tried)
    return [address.path for address in addresses]


def keeps_its_promises(address: Any, tried: settings) -> None:
    @tried
    @given(case=address.as_strategy())
    def whatever_is_asked(case: Any) -> None:
        case.call_and_validate(checks=PROMISES)

    whatever_is_asked()
