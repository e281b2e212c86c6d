"""The smallest content of each kind, and short names for what the fixtures say often."""

import base64
import struct
import zlib
from typing import Any

from mcp import types

STRING = {"type": "string"}
BOOLEAN = {"type": "boolean"}
NO_ARGUMENTS = {"type": "object", "additionalProperties": False}


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + checksum


def _png() -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixel = _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + pixel + _chunk(b"IEND", b"")


def _wav() -> bytes:
    silence = bytes(16)
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    size = struct.pack("<I", 36 + len(silence))
    return b"".join(
        [b"RIFF", size, b"WAVEfmt ", form, b"data", struct.pack("<I", len(silence)), silence]
    )


PNG = base64.b64encode(_png()).decode()
WAV = base64.b64encode(_wav()).decode()


def text(content: str) -> types.TextContent:
    return types.TextContent(type="text", text=content)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def audio() -> types.AudioContent:
    return types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


def embedded(uri: str, mime_type: str, content: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource",
        resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=content),
    )


def said(*blocks: types.ContentBlock) -> types.CallToolResult:
    return types.CallToolResult(content=list(blocks))


def fields(**properties: Any) -> dict[str, Any]:
    """The schema of an object that needs all of them."""
    return {"type": "object", "properties": properties, "required": list(properties)}
