"""Skills as prompts, which clients offer as slash commands."""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from django.db.models import Q

from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.prompts import Offer, PromptText
from contextd.validation import parse_digits
from skills import arguments, documents, serving, usage
from skills.models import Skill

PREFIX = "skill_"
TAKES_TEXT = reduce(or_, (Q(content__contains=place) for place in arguments.PLACES_OF_ALL))
"""Found by the database, so that listing reads no content."""


def name_of(skill: Skill) -> str:
    """Return `skill_NAME`, or `skill_NAME_ID` in a project; names have no underscore."""
    owner = f"_{skill.project_id}" if skill.project_id else ""
    return f"{PREFIX}{skill.slug}{owner}"


def offered(caller: Caller) -> list[Offer]:
    skills = Skill.objects.visible_to(caller).select_related("project")
    shown = skills.only("slug", "name", "description", "front_matter", "project__name")
    taking_text = set(skills.filter(TAKES_TEXT).values_list("pk", flat=True))
    return [
        Offer(
            name=name_of(skill),
            title=f"{skill.name} ({skill.project.name})" if skill.project else skill.name,
            description=documents.shortened(skill.description),
            arguments=arguments.declared(skill.front_matter, takes_text=skill.pk in taking_text),
        )
        for skill in shown
    ]


def said(caller: Caller, name: str, given: Mapping[str, str]) -> PromptText:
    """Return the text of the prompt, and count a use of the skill."""
    skill = _named(caller, name)
    asked = arguments.declared(skill.front_matter, takes_text=arguments.takes_text(skill.content))
    content = arguments.filled(skill.content, asked, given)
    usage.count(caller, skill, None)
    return PromptText(
        text="\n\n".join([_preface(skill), content.strip()]),
        description=documents.shortened(skill.description),
    )


def _named(caller: Caller, name: str) -> Skill:
    slug, _, owner = name.removeprefix(PREFIX).partition("_")
    usable = Skill.objects.visible_to(caller)
    project_id = parse_digits(owner)
    is_known_form = not owner or project_id is not None
    found = usable.filter(slug=slug, project=project_id).first() if is_known_form else None
    if found is None:
        raise NotFound(f"there is no prompt named {name!r}")
    return found


def _preface(skill: Skill) -> str:
    lines = [f"Follow our skill “{skill.name}”, version {skill.version}, in what comes now."]
    if skill.prerequisites:
        lines.append(f"It needs: {'; '.join(skill.prerequisites)}.")
    if skill.expected_outcome:
        lines.append(f"When you are done: {skill.expected_outcome}")
    if files := serving.files_of(skill, skill.version):
        lines.append(f"Its files, to be read when it refers to them: {', '.join(files)}")
    return "\n".join(lines)
