"""Under which addresses and names a skill reaches clients, and that they are told of changes."""

from contextd.changes import announce as announce_change
from skills import documents
from skills.models import Skill

SCHEME = "skill://"
PROMPT = "skill_"


def folder_of(skill: Skill) -> str:
    """`skill://NAME`; of a project `skill://project.ID/NAME`, since no name has a dot."""
    owner = f"project.{skill.project_id}/" if skill.project_id else ""
    return f"{SCHEME}{owner}{skill.slug}"


def address_of(skill: Skill, path: str = documents.NAME) -> str:
    return f"{folder_of(skill)}/{path}"


def prompt_of(skill: Skill) -> str:
    """`skill_NAME`; of a project `skill_NAME_ID`, since no name has an underscore."""
    owner = f"_{skill.project_id}" if skill.project_id else ""
    return f"{PROMPT}{skill.slug}{owner}"


def announce(skill: Skill, former: str | None = None) -> None:
    """Tell clients that the skill is another now, and that it had the `former` address."""
    announce_change("prompts")
    announce_change("resources")
    for address in {address_of(skill), former or address_of(skill)}:
        announce_change("resources", address)


def files_of(skill: Skill, version: str) -> list[str]:
    """The addresses of what comes with that version besides its SKILL.md."""
    files = skill.files.filter(versions__skill=skill, versions__version=version)
    paths = files.exclude(path=documents.NAME).values_list("path", flat=True)
    return [address_of(skill, path) for path in paths]
