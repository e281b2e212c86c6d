from pathlib import Path

import pytest

from contextd.errors import NotFound
from tests.conftest import Call
from threats.models import Threat


def test_one_threat_is_read_whole(call: Call, few: Path) -> None:
    threat = call("threat_get", id="TMKB-AUTHZ-001")

    assert threat.agent_summary.threat
    assert [step.step for step in threat.attack_scenario.attack_steps] == [1, 2, 3]
    assert threat.mitigations[0].code_examples[0].vulnerable_code
    assert "test_code" not in threat.model_dump_json()


def test_the_id_may_be_written_small(call: Call, few: Path) -> None:
    assert call("threat_get", id=" tmkb-authz-001").id == "TMKB-AUTHZ-001"


def test_drafts_and_unknown_ids_are_not_found(call: Call, few: Path) -> None:
    Threat.objects.filter(key="TMKB-AUTHZ-001").update(is_published=False)

    for key in ("TMKB-AUTHZ-001", "TMKB-NONE-001"):
        with pytest.raises(NotFound, match="threat_list shows"):
            call("threat_get", id=key)


def test_neither_drafts_nor_retired_threats_are_published(few: Path) -> None:
    Threat.objects.filter(key="TMKB-AUTHZ-001").update(is_published=False)
    Threat.objects.filter(key="TMKB-INJ-003").update(is_retired=True)

    published = set(Threat.objects.published().values_list("key", flat=True))

    assert published == set(Threat.objects.values_list("key", flat=True)) - {
        "TMKB-AUTHZ-001",
        "TMKB-INJ-003",
    }
