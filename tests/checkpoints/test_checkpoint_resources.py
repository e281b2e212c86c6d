"""Who reads checkpoints by address is told when they change."""

from tests.checkpoints.conftest import Save
from tests.conftest import Call


def test_a_change_is_told(save: Save, call: Call, told: list[str | None]) -> None:
    saved = save("Moved logins to OAuth")
    call("checkpoint_update", id=saved, summary="Moved logins")
    call("checkpoint_delete", id=saved)

    address, newest = f"checkpoint://{saved}", "checkpoint://recent"
    assert told == [None, newest, address, newest, None, newest]
