from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import Call
from tests.threats.conftest import FEW
from threats.models import Threat

EVERY = set(FEW)


def keys(call: Call, **given: Any) -> list[str]:
    return [threat.id.removeprefix("TMKB-") for threat in call("threat_list", **given).threats]


def test_the_worst_come_first(call: Call, few: Path) -> None:
    Threat.objects.filter(key="TMKB-AUTHN-001").update(severity="low")
    Threat.objects.filter(key="TMKB-AUTHZ-012").update(severity="critical")
    severities = [threat.severity for threat in call("threat_list").threats]

    assert len(severities) == 6
    assert severities == sorted(severities, key=["critical", "high", "medium", "low"].index)
    assert {severities[0], severities[-1]} == {"critical", "low"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"category": "injection"}, {"INJ-001", "INJ-003"}),
        ({"cwe": "cwe-89"}, {"INJ-001"}),
        ({"owasp": "API1:2023", "category": "authorization"}, {"AUTHZ-001", "AUTHZ-012"}),
        ({"category": "nothing"}, set()),
    ],
)
def test_only_those_of_a_kind(
    call: Call, few: Path, given: dict[str, str], expected: set[str]
) -> None:
    assert set(keys(call, **given)) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"language": "yaml"}, set()),
        ({"language": "javascript", "framework": "any"}, EVERY),
        ({"framework": "celery"}, {"AUTHZ-001"}),
        ({"framework": "drf"}, EVERY - {"AUTHZ-001"}),
        ({"framework": "flask", "language": "python"}, {"AUTHZ-001", "AUTHN-001", "INJ-003"}),
    ],
)
def test_a_language_or_framework_shows_those_with_code_for_it(
    call: Call, few: Path, given: dict[str, str], expected: set[str]
) -> None:
    assert set(keys(call, **given)) == expected


def test_a_row_costs_no_query(call: Call, few: Path) -> None:
    with CaptureQueriesContext(connection) as captured:
        call("threat_list")

    assert len([one for one in captured if '"threats_threat"' in one["sql"]]) == 3


def test_a_part_of_the_list_tells_how_much_there_is(call: Call, few: Path) -> None:
    Threat.objects.filter(key="TMKB-INJ-003").update(is_published=False)
    page = call("threat_list", limit=2, offset=1)

    assert [threat.id for threat in page.threats] == [f"TMKB-{key}" for key in keys(call)[1:3]]
    assert (page.total, page.limit, page.offset) == (5, 2, 1)
    assert page.categories == {"authentication": 1, "authorization": 3, "injection": 1}
