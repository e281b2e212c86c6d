"""The extension `io.modelcontextprotocol/skills` (SEP-2640): skills as folders of resources."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from mcp import MCPError
from mcp.server import Server
from mcp.types import INVALID_PARAMS, PaginatedRequestParams, RequestParams

from contextd import skill_folders
from contextd.errors import NotAllowed, NotFound
from contextd.mcp import pagination
from contextd.mcp.dialogue import answered
from contextd.mcp.resources import as_listed
from contextd.mcp.tools import Context, Identify
from contextd.operations import Operation, Result
from contextd.skill_folders import Children, FolderPage, FoundFolder, Library
from contextd.workers import Workers

EXTENSION = "io.modelcontextprotocol/skills"
PAGE_SIZE = 100
# The skills differ between callers, and may change at any time.
REFETCH: Mapping[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Answer = TypeVar("Answer", bound=Result)


class OfAddress(PaginatedRequestParams):
    uri: str


class OfSkill(RequestParams):
    uri: str


@dataclass(frozen=True, slots=True)
class SkillFolders:
    """Serves `skills/list`, `skills/get` and `resources/directory/read`."""

    workers: Workers
    identify: Identify

    def install(self, server: Server[Any]) -> None:
        """Install the extension if an app provides skills."""
        library = skill_folders.library()
        if library is None:
            return
        server.extensions[EXTENSION] = {"directoryRead": True}
        server.add_request_handler(
            "skills/list", PaginatedRequestParams, partial(self._list, library)
        )
        server.add_request_handler("skills/get", OfSkill, partial(self._get, library))
        server.add_request_handler(
            "resources/directory/read", OfAddress, partial(self._open, library)
        )

    async def _list(
        self, library: Library, ctx: Context, params: PaginatedRequestParams | None
    ) -> dict[str, Any]:
        start = pagination.start_of(params)
        page = await self._page(library, ctx, start)
        skills = [skill.model_dump(mode="json") for skill in page.skills]
        return {
            **REFETCH,
            "skills": skills,
            **cursor(pagination.next_cursor(start, page.total, PAGE_SIZE)),
        }

    async def _page(self, library: Library, ctx: Context, start: int) -> FolderPage:
        try:
            found = await self._run(ctx, library.listing, {"start": start, "count": PAGE_SIZE})
        except NotAllowed:
            return FolderPage(skills=[], total=0)
        return cast(FolderPage, found)

    async def _get(self, library: Library, ctx: Context, params: OfSkill) -> dict[str, Any]:
        found = cast(FoundFolder, await self._at(ctx, library.getting, params.uri))
        return {**REFETCH, "skill": found.skill.model_dump(mode="json")}

    async def _open(self, library: Library, ctx: Context, params: OfAddress) -> dict[str, Any]:
        found = cast(Children, await self._at(ctx, library.opening, params.uri))
        page, following = pagination.cut(found.resources, params)
        listed = [
            as_listed(one).model_dump(by_alias=True, mode="json", exclude_none=True) for one in page
        ]
        return {"resultType": "complete", "resources": listed, **cursor(following)}

    async def _at(self, ctx: Context, operation: Operation, uri: str) -> Result:
        try:
            return await self._run(ctx, operation, {"uri": uri})
        except NotFound as error:
            data = {**error.as_dict(), "uri": uri}
            raise MCPError(INVALID_PARAMS, error.text, data) from None

    async def _run(self, ctx: Context, operation: Operation, arguments: dict[str, Any]) -> Result:
        return await answered(ctx, self.workers, operation, arguments, self.identify(ctx))


def cursor(following: str | None) -> dict[str, str]:
    return {} if following is None else {"nextCursor": following}
