"""Skills as folders of files that can be read by address, for MCP's Skills extension.

An app with skills registers how they are listed, found and inspected.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from contextd import resources
from contextd.callers import Caller
from contextd.operations import Operation, Request, Result, reader
from contextd.resources import Listed, ReadResource

DOCUMENT = "SKILL.md"
MAX_SIZE = 2**31


class FileOfSkill(Result):
    """The `digest` is `sha256:` and 64 hexadecimal digits."""

    uri: str
    digest: str
    size: int


class SkillFolder(Result):
    """The `uri` is that of its SKILL.md; `resources` are all files, including SKILL.md."""

    uri: str
    frontmatter: dict[str, Any]
    resources: list[FileOfSkill]


class ListFolders(Request):
    """List the available skills, one page at a time."""

    start: Annotated[int, Field(ge=0, le=MAX_SIZE, description="Number of skills to skip")]
    count: Annotated[int, Field(ge=1, le=MAX_SIZE, description="How many")]


class FolderPage(Result):
    skills: list[SkillFolder]
    total: int


class FoundFolder(Result):
    skill: SkillFolder


class Children(Result):
    resources: list[Listed]


@dataclass(frozen=True, slots=True)
class Library:
    listing: Operation
    getting: Operation
    opening: Operation


_library: Library | None = None


def provide(
    template: str,
    *,
    listed: Callable[[Caller, int, int], tuple[list[SkillFolder], int]],
    found: Callable[[Caller, str], SkillFolder],
    children: Callable[[Caller, str], list[Listed]],
    timeout: float = 10,
) -> None:
    """Serve skills whose files are resources of that template.

    `listed` receives an offset and a limit, and also returns the total; `found` receives the
    address of a SKILL.md, `children` that of a folder. Both raise NotFound.
    """
    global _library  # only one app provides skills

    def list_folders(caller: Caller, request: ListFolders) -> FolderPage:
        folders, total = listed(caller, request.start, request.count)
        held = [one for one in folders if resources.contains(caller, [template], one.uri)]
        return FolderPage(skills=held, total=total)

    def get_folder(caller: Caller, request: ReadResource) -> FoundFolder:
        resources.check(caller, [template], request.uri)
        return FoundFolder(skill=found(caller, request.uri))

    def open_folder(caller: Caller, request: ReadResource) -> Children:
        # A glob such as `skill://code-review/*` also covers the folder itself.
        document = f"{request.uri}/{DOCUMENT}"
        resources.check(caller, [template], f"{request.uri}/", document, request.uri)
        return Children(resources=children(caller, request.uri))

    _library = Library(
        listing=reader("resource", template, list_folders, ListFolders, FolderPage, timeout),
        getting=reader("resource", template, get_folder, ReadResource, FoundFolder, timeout),
        opening=reader("resource", template, open_folder, ReadResource, Children, timeout),
    )


def library() -> Library | None:
    return _library
