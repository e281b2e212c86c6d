"""Read the `initialize` request with which a client opens a session."""

import json
from dataclasses import dataclass
from typing import Any

from mcp.types import InitializeRequestParams
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

from contextd.errors import Invalid
from contextd.sessions import Client
from contextd.validation import unstorable

MAX_CLIENT_INFO_LENGTH = 20_000


@dataclass(frozen=True, slots=True)
class Handshake:
    client: Client
    protocol_version: str


class Unacceptable(Invalid):
    """The parameters of `initialize` are invalid."""


def missing() -> Invalid:
    return Invalid("a session begins with a POST of `initialize`", field="mcp-session-id")


def read(content: dict[str, Any]) -> Handshake:
    """Return the handshake in a message. Raise Invalid unless it is a valid `initialize`."""
    if content.get("method") != "initialize" or "id" not in content:
        raise missing()
    try:
        asked = InitializeRequestParams.model_validate(content.get("params") or {}, by_name=False)
    except ValidationError:
        raise Unacceptable(
            "initialize needs protocolVersion, capabilities and clientInfo", field="params"
        ) from None
    is_known = asked.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    return Handshake(
        client=client_of(asked),
        protocol_version=asked.protocol_version if is_known else LATEST_HANDSHAKE_VERSION,
    )


def client_of(asked: InitializeRequestParams) -> Client:
    capabilities = asked.capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)
    described = [capabilities, asked.client_info.name, asked.client_info.version]
    if len(json.dumps(described)) > MAX_CLIENT_INFO_LENGTH or unstorable(described):
        raise Unacceptable(
            f"capabilities and clientInfo may have {MAX_CLIENT_INFO_LENGTH} characters and no NUL",
            field="params",
        )
    return Client(asked.client_info.name, asked.client_info.version, capabilities)
