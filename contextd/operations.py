"""The definition of an operation, and the registry of installed ones.

An operation is declared once, in an app's `operations.py`. MCP, REST, the command line, the admin
and the documentation are all generated from this registry.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contextd import validation
from contextd.callers import Caller
from contextd.conversations import Conversation
from contextd.errors import Invalid, NotFound
from contextd.rates import Rate as Rate

Effect = Literal["read", "write", "delete"]
Kind = Literal["tool", "resource", "prompt"]


class Request(BaseModel):
    """Arguments of one operation. Callers read the docstring of a subclass."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def refusal(cls, error: ValidationError, operation: str) -> Invalid:
        """Return the error for arguments that break the contract, with all problems."""
        problems = validation.problems(error, operation, list(cls.model_fields))
        sentence = "; ".join(problem["error"] for problem in problems)
        return Invalid(sentence, **problems[0], problems=problems)


class Result(BaseModel):
    """The result of one operation. Built from a model instance or a dataclass."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class Written(Result):
    """The result of an operation that stores text; the pipeline fills `redacted`."""

    redacted: int = Field(
        0, description="Number of credentials replaced by [REDACTED:kind] before saving"
    )


class RelayedToolResult(Written):
    """The answer of another MCP server, in MCP's own format."""

    content: list[dict[str, Any]]
    structured: Any = None
    """Any JSON value; before 2026-07-28, MCP has objects only."""
    meta: dict[str, Any] | None = None


class AnyArguments(Request):
    """Arguments that another server validates."""

    model_config = ConfigDict(extra="allow")


Handler = Callable[[Caller, Any], Result]
WaitingHandler = Callable[[Caller, Any, Conversation], Awaitable[Result]]
H = TypeVar("H", bound=Handler | WaitingHandler)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    DEFAULT_RATE: ClassVar[Rate] = Rate(10, burst=20)

    name: str
    handler: Callable[..., Any]
    """A `Handler`, or a `WaitingHandler` where it `waits`."""
    request: type[Request]
    result: type[Result]
    effect: Effect
    timeout: float
    rate: Rate
    atomic: bool
    kind: Kind = "tool"
    """How it is offered; each resource and each prompt has its own reading operation."""

    @property
    def waits(self) -> bool:
        """Whether its handler is a coroutine, for operations that may wait long."""
        return inspect.iscoroutinefunction(self.handler)

    @property
    def description(self) -> str:
        return inspect.cleandoc(self.request.__doc__ or "")

    @property
    def canonical_name(self) -> str:
        """`checkpoints:checkpoint_save`: the module that provides it, then its name."""
        return f"{self.handler.__module__.split('.')[0]}:{self.name}"

    @property
    def redacts(self) -> bool:
        """Whether credentials are removed from its arguments."""
        return self.effect == "write"

    def input_schema(self) -> dict[str, Any]:
        return self.request.model_json_schema()

    def contract(self) -> dict[str, Any]:
        """Return everything that callers may rely on, as plain JSON."""
        return {
            "description": self.description,
            "effect": self.effect,
            "timeout": self.timeout,
            "rate": [self.rate.per_second, self.rate.burst],
            "request": self.request.model_json_schema(),
            "result": self.result.model_json_schema(mode="serialization"),
        }

    def parse(self, arguments: dict[str, Any]) -> Request:
        try:
            return self.request.model_validate(arguments)
        except ValidationError as error:
            raise self.request.refusal(error, self.name) from None


def reader(
    kind: Kind,
    name: str,
    handler: Callable[..., Any],
    request: type[Request],
    result: type[Result],
    timeout: float,
) -> Operation:
    """Return the operation behind a resource or a prompt."""
    return Operation(
        name=name,
        handler=handler,
        request=request,
        result=result,
        effect="read",
        timeout=timeout,
        rate=Operation.DEFAULT_RATE,
        atomic=False,
        kind=kind,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Provided(Operation):
    """An operation that exists at run time only, such as a tool of another server."""

    canonical: str
    is_redacted: bool
    definition: Mapping[str, Any]
    """The MCP definition of a tool or a prompt: `title`, `description`, `inputSchema` and so on."""

    @property
    def canonical_name(self) -> str:
        return self.canonical

    @property
    def description(self) -> str:
        return str(self.definition.get("description") or f"The tool {self.canonical}.")

    @property
    def redacts(self) -> bool:
        return self.is_redacted

    def input_schema(self) -> dict[str, Any]:
        return dict(self.definition["inputSchema"])


class Provider(Protocol):
    """Provides operations that exist at run time only. Its methods raise nothing."""

    def all(self) -> list[Provided]:
        """Return all of them. This and `find` may query the database, which blocks."""

    def find(self, name: str) -> Provided | None:
        """Return the operation with this name or canonical name, or None."""

    def at_hand(self, name: str) -> Provided | None:
        """Like `find`, but only for what is known without a query."""


_registry: dict[str, Operation] = {}
_providers: list[Provider] = []


def operation(
    name: str,
    *,
    effect: Effect,
    timeout: float,
    rate: Rate = Operation.DEFAULT_RATE,
    atomic: bool = True,
) -> Callable[[H], H]:
    """Register the decorated handler; its annotations are its contract.

    `timeout` is in seconds. `atomic=False` is for handlers that wait for another service: they run
    outside a transaction, and their services open `limits.transaction()`. A handler that waits
    long, for a person or a job, is a coroutine and receives a `Conversation`.
    """

    def register(handler: H) -> H:
        if name in _registry:
            raise RuntimeError(f"operation {name!r} is declared twice")
        hints = get_type_hints(handler)
        _registry[name] = Operation(
            name=name,
            handler=handler,
            request=hints["request"],
            result=hints["return"],
            effect=effect,
            timeout=timeout,
            rate=rate,
            atomic=atomic,
        )
        return handler

    return register


def provide(provider: Provider) -> None:
    """Offer the provider's operations beside the installed ones, which take precedence."""
    _providers.append(provider)


def installed() -> list[Operation]:
    """Return the operations that are declared in code."""
    return sorted(_registry.values(), key=lambda op: op.name)


def available() -> list[Operation]:
    """Return the installed operations and those that are provided now."""
    provided = [operation for provider in _providers for operation in provider.all()]
    return [*installed(), *sorted(provided, key=lambda op: op.name)]


def at_hand(name: str) -> Operation | None:
    """Return the operation if no query is needed; None may mean that `get` would find it."""
    found = _registry.get(name.rpartition(":")[2])
    if found and name in (found.name, found.canonical_name):
        return found
    return next((one for provider in _providers if (one := provider.at_hand(name))), None)


def get(name: str) -> Operation:
    """Return an operation by its name or its canonical name. Raise NotFound."""
    if found := at_hand(name):
        return found
    for provider in _providers:
        if provided := provider.find(name):
            return provided
    raise NotFound(f"there is no operation named {name!r}")
