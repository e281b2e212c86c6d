"""A gateway on another host, reached by an address and a token."""

import pytest

from contextd.errors import UpstreamFailed
from gateway import place
from tests.conftest import Call
from tests.gateway.conftest import Add
from tests.server import free_port

TOKEN = "t" * 32


@pytest.fixture
def elsewhere(settings: object) -> None:
    """The socket is not used; the gateway that starts after this listens at an address."""
    address = f"127.0.0.1:{free_port()}"
    settings.CONTEXTD_GATEWAY_LISTEN = address  # type: ignore[attr-defined]
    settings.CONTEXTD_GATEWAY_ADDRESS = address  # type: ignore[attr-defined]
    settings.CONTEXTD_GATEWAY_TOKEN = TOKEN  # type: ignore[attr-defined]


def test_it_is_called_there(elsewhere: None, add: Add, call: Call) -> None:
    add()

    assert call("odd:add", a=1, b=2).structured == {"sum": 3}


def test_without_the_token_nothing_is_called(
    elsewhere: None, add: Add, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    add()
    ours = place.proof
    monkeypatch.setattr(
        place, "proof", lambda role, word: "f" * 64 if role == "caller" else ours(role, word)
    )

    with pytest.raises(UpstreamFailed, match="CONTEXTD_GATEWAY_TOKEN"):
        call("odd:echo")


def test_one_that_does_not_answer_is_named(
    elsewhere: None, settings: object, gateway: None, add_row: None, call: Call
) -> None:
    settings.CONTEXTD_GATEWAY_ADDRESS = f"127.0.0.1:{free_port()}"  # type: ignore[attr-defined]

    with pytest.raises(UpstreamFailed, match="does not answer at CONTEXTD_GATEWAY_ADDRESS"):
        call("odd:echo")
