"""Resources of the suite."""

import json

from mcp import types

from contextd.callers import Caller
from contextd.resources import Query, resource
from tests.conformance.content import PNG

TEMPLATE = types.ResourceTemplate(
    uri_template="test://template/{id}/data", name="template", mime_type="application/json"
)


@resource("test://watched-resource", title="Watched")
def watched(caller: Caller, query: Query) -> str:
    """Serve the resource to which the suite subscribes; only registered ones can change."""
    return "watched"


def plain(uri: str, content: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type="text/plain", text=content)


CONTENTS: dict[str, types.TextResourceContents | types.BlobResourceContents] = {
    contents.uri: contents
    for contents in (
        plain("test://static-text", "This is the content of the static text resource."),
        plain("test://watched-resource", watched.__name__),
        plain("test://example-resource", "example"),
        types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
    )
}

RESOURCES = [
    types.Resource(
        uri=uri, name=uri.removeprefix("test://"), description=uri, mime_type=contents.mime_type
    )
    for uri, contents in CONTENTS.items()
]


def read(uri: str) -> types.ReadResourceResult | None:
    if uri in CONTENTS:
        return types.ReadResourceResult(contents=[CONTENTS[uri]])
    if uri.startswith("test://template/") and uri.endswith("/data"):
        name = uri.split("/")[3]
        content = json.dumps({"id": name, "templateTest": True, "data": f"Data for ID: {name}"})
        mime_type = "application/json"
        filled = types.TextResourceContents(uri=uri, mime_type=mime_type, text=content)
        return types.ReadResourceResult(contents=[filled])
    return None
