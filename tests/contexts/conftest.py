from typing import Any, Protocol

import pytest
from django.contrib.auth.models import User
from django.test import Client

from contextd.models import Project, ProjectPath
from contexts import services, tokens
from contexts.models import Context, Permission


class MakeContext(Protocol):
    def __call__(self, name: str = ..., **fields: Any) -> Context: ...


class MakeToken(Protocol):
    def __call__(self, user: User, **fields: Any) -> dict[str, str]: ...


class Post(Protocol):
    def __call__(
        self,
        name: str,
        arguments: Any = ...,
        *,
        token: dict[str, str] = ...,
        context: str | None = ...,
    ) -> Any: ...


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann")


@pytest.fixture
def make_context(db: None) -> MakeContext:
    """Create a context that holds every tool and no project, unless fields say otherwise."""

    def make_context(
        name: str = "backend", projects: tuple[Project, ...] = (), **fields: Any
    ) -> Context:
        everything = {"tools": ["*"], "resources": ["*"], "prompts": ["*"]}
        context = Context.objects.create(name=name, **{**everything, **fields})
        context.projects.set(projects)
        return context

    return make_context


@pytest.fixture
def token_of(db: None) -> MakeToken:
    """Return the headers with a new token of the user."""

    def token_of(user: User, **fields: Any) -> dict[str, str]:
        _, secret = tokens.create(user, **{"name": "test", **fields})
        return {"Authorization": f"Bearer {secret}"}

    return token_of


@pytest.fixture
def post() -> Post:
    """Call an operation over REST, from this machine."""
    client = Client(headers={"Host": "localhost"})

    def post(
        name: str,
        arguments: Any = None,
        *,
        token: dict[str, str] | None = None,
        context: str | None = None,
    ) -> Any:
        chosen = {} if context is None else {"X-MCP-Context": context}
        return client.post(
            f"/api/v1/{name}",
            arguments or {},
            content_type="application/json",
            headers={**(token or {}), **chosen},
        )

    return post


def grant(context: Context, user: User, permission: str = "execute") -> None:
    services.grant(context, Permission(permission), user=user.username)


def make_project(path: str) -> Project:
    project = Project.objects.create(name=path.rpartition("/")[2])
    ProjectPath.objects.create(project=project, path=path)
    return project
