from pathlib import Path

from tests.conftest import Call

AREAS = ["background jobs", "password reset", "export in a background job", "print hello world"]


def test_each_point_stands_once_with_its_areas(call: Call, few: Path) -> None:
    checklist = call("threat_checklist", areas=AREAS)
    points = {point.id: point for point in checklist.points}

    assert len(points) == len(checklist.points)
    assert points["TMKB-AUTHZ-001"].areas == [AREAS[0], AREAS[2]]
    assert points["TMKB-AUTHN-001"].areas == [AREAS[1]]
    assert points["TMKB-AUTHZ-001"].check
    assert points["TMKB-AUTHZ-001"].verify
    assert checklist.uncovered == ["print hello world"]


def test_the_worst_come_first(call: Call, few: Path) -> None:
    points = call("threat_checklist", areas=[*AREAS, "raw SQL"]).points
    order = ["critical", "high", "medium", "low"]

    assert [point.severity for point in points] == sorted(
        (point.severity for point in points), key=order.index
    )


def test_an_area_brings_at_most_so_many(call: Call, few: Path) -> None:
    areas = ["list of ids in a background job that deletes softly"]

    assert len(call("threat_checklist", areas=areas, most_for_each=1).points) == 1
