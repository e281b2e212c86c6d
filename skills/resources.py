"""Serve the files of skills by address."""

from contextd import skill_folders
from contextd.callers import Caller
from contextd.resources import File, Query, resource
from skills import serving

TEMPLATE = "skill://{+path}"


@resource(TEMPLATE, title="File of a skill", mime_type="text/markdown", listed=serving.most_used)
def file(caller: Caller, query: Query, path: str) -> File:
    """Read one file of a skill, such as skill://code-review/SKILL.md."""
    return serving.file_at(caller, path)


skill_folders.provide(
    TEMPLATE, listed=serving.folders, found=serving.folder_at, children=serving.children
)
