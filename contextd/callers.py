"""Who is asking, and through which door."""

from dataclasses import dataclass
from typing import Literal

Door = Literal["mcp", "rest", "cli", "admin", "task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whom a credential stands for."""

    name: str
    user_id: int | None = None
    is_local: bool = False
    projects: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The principal of one call and what it may see.

    `principal` is stable over connections (`user:3`, `anonymous`); `connection` is what rates
    count by; `projects` is None for a caller who sees every project.
    """

    principal: str
    door: Door
    connection: str = "-"
    session: str = "-"
    context: str = "default"
    client: str = "-"
    user_id: int | None = None
    is_local: bool = False
    projects: frozenset[int] | None = None

    @property
    def sees_all_projects(self) -> bool:
        return self.projects is None

    def sees(self, project_id: int | None) -> bool:
        """Whether a record of that project is visible; None is shared knowledge."""
        return self.projects is None or project_id is None or project_id in self.projects
