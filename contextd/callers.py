"""Who is asking, through which door, and what their context gives them."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from contextd.errors import NotAuthenticated
from contextd.rates import Rate

Door = Literal["mcp", "rest", "cli", "admin", "task"]
Permission = Literal["read", "execute", "manage"]

DEFAULT_CONTEXT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whom a credential stands for, and how far it does.

    `contexts` are those it may select, None for all; `default_context` is taken when it
    selects none; with `is_read_only` it reads, whatever its user may do.
    """

    name: str
    user_id: int | None = None
    is_local: bool = False
    is_read_only: bool = False
    contexts: frozenset[str] | None = None
    default_context: str | None = None


class CredentialLapsed(NotAuthenticated):
    """A credential that counts no more, although it is known whose it was."""

    def __init__(self, message: str, principal: Principal) -> None:
        super().__init__(message)
        self.principal = principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a context gives to a principal in it; `Entry()` is everything.

    `tools`, `resources` and `prompts` are globs, and what none of them matches is refused;
    `projects` is None for every project; `rate` replaces the tools' own. With `needs_review`,
    what is made in it for others to act on waits for a person first. One that `is_fallback` stands
    for a context that cannot be looked up now: nothing but `status` may be used in it.
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
        """Whether a tool with these names belongs to the context."""
        return any(matches(name, self.tools) for name in names)

    def has_resource(self, *names: str) -> bool:
        """Whether one of these is in the context: an address, or the form it has."""
        return any(matches(name, self.resources) for name in names)

    def has_prompt(self, *names: str) -> bool:
        return any(matches(name, self.prompts) for name in names)


def matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The principal of one call and what it may use.

    `principal` is stable over connections (`user:3`, `anonymous`); `connection` is what rates
    count by. `is_local` grants the rights of the machine's owner; `is_from_this_machine` only says
    that the request was sent from here, with a token or without.
    """

    principal: str
    door: Door
    entry: Entry
    connection: str = "-"
    session: str = "-"
    client: str = "-"
    user_id: int | None = None
    is_local: bool = False
    is_from_this_machine: bool = False

    @property
    def context(self) -> str:
        return self.entry.name

    @property
    def projects(self) -> frozenset[int] | None:
        """Ids of those whose records it sees; None for every project."""
        return self.entry.projects

    @property
    def sees_all_projects(self) -> bool:
        return self.projects is None

    def sees(self, project_id: int | None) -> bool:
        """Whether a record of that project is visible; None is shared knowledge."""
        return self.projects is None or project_id is None or project_id in self.projects
