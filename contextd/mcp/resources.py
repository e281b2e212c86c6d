"""Serve the registered resources over MCP."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from mcp import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextResourceContents,
)
from mcp.types import Resource as ListedResource
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from contextd import pipeline, resources
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed, NotFound
from contextd.mcp.dialogue import answered
from contextd.mcp.tools import Context, Identify
from contextd.operations import Operation, Result
from contextd.resources import Contents, Listed, Listing, RelayedContents, Resource
from contextd.workers import Workers

NOT_FOUND_BEFORE_2026 = -32002
MAX_OFFSET_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Resources:
    """Serves `resources/list`, `resources/templates/list` and `resources/read`."""

    workers: Workers
    identify: Identify

    async def list_newest(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        begun, offset = start_of(params.cursor if params else None)
        found: list[ListedResource] = []
        for resource in listed_from(begun):
            page = await self._list_one(ctx, resource, offset)
            found += [as_listed(one, resource.mime_type) for one in page.resources]
            if page.next_offset is not None:
                cursor = f"{page.next_offset} {resource.template}"
                return ListResourcesResult(resources=found, next_cursor=cursor)
            offset = 0
        return ListResourcesResult(resources=found)

    async def list_templates(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        caller = self.identify(ctx)
        ours = [
            form_of(one)
            for one in resources.installed()
            if not (one.is_single or one.relayed)
            and caller.entry.has_resource(*resources.forms(one.template))
        ]
        work = partial(resources.templates, caller)
        others = await self.workers.run_safely("templates", work)
        return ListResourceTemplatesResult(
            resource_templates=[as_template(one) for one in [*ours, *others]]
        )

    async def read(self, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        with refusals_about(uri, ctx):
            reading = resources.at(uri).reading
            found = await self._run(ctx, reading, {"uri": uri})
        if isinstance(found, RelayedContents):
            return ReadResourceResult.model_validate({"contents": found.contents})
        return ReadResourceResult(contents=[as_contents(cast(Contents, found))])

    async def check(self, ctx: Context, uris: Iterable[str]) -> None:
        """Raise what reading the first unreadable address raises; all of them count as one read."""
        caller = self.identify(ctx)
        attempt: Callable[[Operation, dict[str, Any], Caller], Result] = pipeline.call_operation
        for uri in uris:
            with refusals_about(uri, ctx):
                reading = subscribed(uri)
                work = partial(attempt, reading, {"uri": uri}, caller)
                await self.workers.run_safely("a subscription", work, seconds=reading.timeout)
            attempt = pipeline.preview

    async def is_readable(self, uri: str, caller: Caller) -> bool:
        """Return whether the caller may read it. Raise ContextdError if that is unknown now."""
        try:
            reading = subscribed(uri)
            work = partial(pipeline.preview, reading, {"uri": uri}, caller)
            await self.workers.run_safely("a notification", work, seconds=reading.timeout)
        except (NotAllowed, NotFound, Invalid):
            return False
        return True

    async def _list_one(self, ctx: Context, resource: Resource, offset: int) -> Listing:
        listing = cast(Operation, resource.listing)
        try:
            return cast(Listing, await self._run(ctx, listing, {"offset": offset}))
        except NotAllowed:
            return Listing(resources=[])

    async def _run(self, ctx: Context, operation: Operation, arguments: dict[str, Any]) -> Result:
        return await answered(ctx, self.workers, operation, arguments, self.identify(ctx))


def subscribed(uri: str) -> Operation:
    """Return the operation that reads it. Raise Invalid if its changes are not announced."""
    reading = resources.at(uri).reading
    if reading.waits:
        raise Invalid(
            "changes of resources of other servers are not announced; read it again", field="uri"
        )
    return reading


def start_of(cursor: str | None) -> tuple[str | None, int]:
    """Return the template to continue with and the offset in its addresses."""
    if cursor is None:
        return None, 0
    offset, _, template = cursor.partition(" ")
    is_ours = any(one.template == template for one in listed_from(None))
    if not is_ours or not offset.isdecimal() or len(offset) > MAX_OFFSET_DIGITS:
        raise MCPError(
            INVALID_PARAMS, "this cursor was not issued by this server; list from the start"
        )
    return template, int(offset)


def listed_from(template: str | None) -> list[Resource]:
    """Return the resources that list their addresses, starting with that template."""
    listed = [one for one in resources.installed() if one.listing]
    names = [one.template for one in listed]
    return listed[names.index(template) if template else 0 :]


def as_listed(one: Listed, mime_type: str | None = None) -> ListedResource:
    return ListedResource(
        uri=one.uri,
        name=one.name or one.uri,
        title=one.title,
        description=one.description,
        mime_type=one.mime_type or mime_type,
        size=one.size,
    )


def as_contents(found: Contents) -> TextResourceContents | BlobResourceContents:
    if found.blob is None:
        return TextResourceContents(uri=found.uri, mime_type=found.mime_type, text=found.text)
    blob = b64encode(found.blob).decode()
    return BlobResourceContents(uri=found.uri, mime_type=found.mime_type, blob=blob)


@contextmanager
def refusals_about(uri: str, ctx: Context) -> Iterator[None]:
    """Raise NotFound in the form that the protocol version requires."""
    try:
        yield
    except NotFound as error:
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = INVALID_PARAMS if modern else NOT_FOUND_BEFORE_2026
        raise MCPError(code, error.text, {**error.as_dict(), "uri": uri}) from None


def form_of(resource: Resource) -> Listed:
    return Listed(
        uri=resource.template,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime_type,
    )


def as_template(form: Listed) -> ResourceTemplate:
    return ResourceTemplate(
        uri_template=form.uri,
        name=form.name or form.uri,
        title=form.title,
        description=form.description,
        mime_type=form.mime_type,
    )
