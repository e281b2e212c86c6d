"""What the dashboard's OpenAPI document promises is what is answered, whatever is asked."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
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

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_model")]

application = get_wsgi_application()
tried = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[*HealthCheck],
)


def from_this_machine(environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    own = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost"}
    return application({**environment, **own}, start)


@pytest.fixture(autouse=True)
def no_rates(settings: Any) -> None:
    settings.CONTEXTD_RATE_LIMITS = False


def test_what_is_promised_is_answered() -> None:
    document = "/api/dashboard/openapi.json"
    schema = schemathesis.openapi.from_wsgi(document, from_this_machine)
    addresses: list[Any] = [*schema.get_all_operations()]

    assert len(addresses) > 5
    for address in addresses:
        keeps_its_promises(address.ok())


def keeps_its_promises(address: Any) -> None:
    @tried
    @given(case=address.as_strategy())
    def whatever_is_asked(case: Any) -> None:
        case.call_and_validate(checks=PROMISES)

    whatever_is_asked()
