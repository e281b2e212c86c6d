"""Who is calling, through which door, and what their context grants them."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from contextd.errors import NotAuthenticated
from contextd.rates import Rate

Door = Literal["mcp", "rest", "cli", "admin", "task"]
Permission = Literal["read", "execute", "manage"]

DEFAULT_CONTEXT = "default"
ABSENT = "-"
"""For a client or connection that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The owner of a credential, and its limits.

    `contexts` are the contexts it may select, None for all; `default_context` applies when it
    selects none; with `is_read_only` it may only read, whatever its user may do.
    """

    name: str
    user_id: int | None = None
    is_local: bool = False
    is_read_only: bool = False
    contexts: frozenset[str] | None = None
    default_context: str | None = None


class CredentialLapsed(NotAuthenticated):
    """A credential that is no longer valid, although its owner is known."""

    def __init__(self, message: str, principal: Principal) -> None:
        super().__init__(message)
        self.principal = principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a context grants a principal; `Entry()` grants everything.

    `tools`, `resources` and `prompts` are globs; anything that none of them matches is refused.
    `projects` is None for every project; `rate` replaces the tools' own. With `needs_review`, what
    is created for others to act on waits for a person's review. An entry that `is_fallback` stands
    for a context that cannot be looked up now: only `status` may be used in it.
    """

    name: str = DEFAULT_CONTEXT
    permission: Permission = "manage"
    tools: tuple[str, ...] = ("*",)
    resources: tuple[str, ...] = ("*",)
    prompts: tuple[str, ...] = ("*",)
    projects: frozenset[int] | None = None
    rate: Rate | None = None
    needs_review: bool = False
    is_fallback: bool = False

    def has_tool(self, *names: str) -> bool:
        """Return whether the context contains a tool with one of these names."""
        return any(matches(name, self.tools) for name in names)

    def has_resource(self, *names: str) -> bool:
        """Return whether the context contains one of these: an address, or its template."""
        return any(matches(name, self.resources) for name in names)

    def has_prompt(self, *names: str) -> bool:
        return any(matches(name, self.prompts) for name in names)


def matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The principal of one call and what it may use.

    `principal` is stable across connections (`user:3`, `anonymous`); rates are counted per
    `connection`. `is_local` grants the rights of the machine's owner; `is_from_this_machine` only
    says that the request was sent from here, with or without a token. One who `is_curator` reviews:
    it sees drafts and proposals, and what it writes waits for no review.
    """

    principal: str
    door: Door
    entry: Entry
    connection: str = ABSENT
    client: str = ABSENT
    user_id: int | None = None
    is_local: bool = False
    is_from_this_machine: bool = False
    is_curator: bool = False

    @property
    def context(self) -> str:
        return self.entry.name

    @property
    def projects(self) -> frozenset[int] | None:
        """The ids of the projects whose records it sees; None for every project."""
        return self.entry.projects

    @property
    def sees_all_projects(self) -> bool:
        return self.projects is None

    def sees(self, project_id: int | None) -> bool:
        """Return whether a record of that project is visible; None stands for shared knowledge."""
        return self.projects is None or project_id is None or project_id in self.projects
