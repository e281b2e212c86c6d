"""Contexts as rows of files."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db.models import Q

from contextd.admin import RowsByField
from contextd.admin.files import Row
from contextd.admin.rows import each
from contextd.errors import Invalid, NotFound
from contextd.models import Project
from contexts import services
from contexts.models import Context, Grant, Permission

HELD = ["grants", "variables"]
"""Columns shown only to those who may change the context."""


class ContextRows(RowsByField):
    """Contexts, identified by name. Variables are exported by name only, and never imported."""

    model, key = Context, "name"
    columns = [
        *("name", "description", "is_active", "is_open", "tools", "resources", "prompts"),
        *("all_projects", "projects", "needs_review", "calls_per_second", "calls_at_once"),
        "grants",
    ]
    lists = ["tools", "resources", "prompts", "projects", "grants"]
    flags = ["is_active", "is_open", "all_projects", "needs_review"]
    numbers = ["calls_per_second", "calls_at_once"]
    related = ["projects", "grants"]
    told_only = ["variables", "created_at", "updated_at"]
    prefetched = ["projects__paths", "grants__user", "grants__group", "variables"]

    def __init__(self, *, shows_held: bool, **options: Any) -> None:
        super().__init__(**options)
        if not shows_held:
            self.fields = {name: one for name, one in self.fields.items() if name not in HELD}

    def cell(self, record: Context, name: str) -> Any:
        match name:
            case "projects":
                return [place_of(project) for project in record.projects.all()]
            case "grants":
                return [grant_as_row(grant) for grant in record.grants.all()]
        return super().cell(record, name)

    def relate(self, record: Context, row: Row) -> None:
        if "projects" in row:
            record.projects.set(each(project_at, row["projects"]))
        if "grants" in row:
            given = each(partial(given_to, record), row["grants"])
            record.grants.exclude(pk__in=[grant.pk for grant in given]).delete()


def place_of(project: Project) -> str:
    """Return one of its folders, else its remote, else its name."""
    paths = [one.path for one in project.paths.all()]
    return paths[0] if paths else project.git_remote or project.name


def project_at(place: Any) -> Project:
    """Return the project with that folder or remote, or with that name if it has neither."""
    text = str(place)
    at_path, at_remote = Q(paths__path=text), Q(git_remote=text)
    for condition in (at_path, at_remote, Q(name=text, paths=None, git_remote=None)):
        found = list(Project.objects.filter(condition)[:2])
        if len(found) > 1:
            raise Invalid(
                f"projects: several projects without folder and remote are named {text!r}; "
                "give them folders, or merge them",
                field="projects",
            )
        if found:
            return found[0]
    raise Invalid(
        f"projects: there is no project at {text!r}; import or create it first", field="projects"
    )


def grant_as_row(grant: Grant) -> dict[str, str]:
    holder = {"user": grant.user.get_username()} if grant.user else {"group": str(grant.group)}
    return {**holder, "permission": grant.permission}


def given_to(context: Context, grant: Any) -> Grant:
    problems = list(problems_of(grant))
    if problems:
        raise Invalid(problems[0], field="grants")
    holder = {name: grant[name] for name in ("user", "group") if name in grant}
    try:
        return services.grant(context, Permission(grant["permission"]), **holder)
    except NotFound as error:
        raise Invalid(f"grants: {error.message}", field="grants") from None


def problems_of(grant: Any) -> Iterator[str]:
    names = set(grant) if isinstance(grant, dict) else set()
    if names not in ({"user", "permission"}, {"group", "permission"}):
        yield 'grants must look like {"user": "anna", "permission": "read"}, or have a group'
    elif not all(isinstance(value, str) and value for value in grant.values()):
        yield "grants: names and permissions must be text"
    elif grant["permission"] not in Permission.values:
        yield f"grants: the permission must be one of {', '.join(Permission.values)}"
