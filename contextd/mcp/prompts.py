"""Serve the registered prompts, and completions for arguments of prompts and resources."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from mcp.types import (
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)
from mcp.types import Completion as WireCompletion

from contextd import completions, guards, limits, prompts, resources
from contextd.callers import Caller
from contextd.completions import Completion
from contextd.errors import NotFound
from contextd.mcp import pagination
from contextd.mcp.dialogue import answered
from contextd.mcp.tools import CANONICAL, Context, Identify
from contextd.operations import Operation
from contextd.prompts import Argument, GivenArguments, Offer, PromptText, RelayedPrompt
from contextd.validation import ensure_storable
from contextd.workers import Workers


@dataclass(frozen=True, slots=True)
class Prompts:
    """Serves `prompts/list`, `prompts/get` and `completion/complete`."""

    workers: Workers
    identify: Identify

    async def list(self, ctx: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        caller = self.identify(ctx)
        fixed = [offer_of(one) for one in prompts.installed() if guards.may_use(one, caller)]
        work = partial(prompts.offers, caller)
        made = await self.workers.run_safely("prompts", work)
        page, following = pagination.cut([*fixed, *made], params)
        return ListPromptsResult(prompts=[as_prompt(one) for one in page], next_cursor=following)

    async def get(self, ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        find = partial(prompts.get, params.name)
        operation = await self.workers.run_safely("prompts/get", find)
        given: dict[str, Any] = dict(params.arguments or {})
        if operation.request is GivenArguments:
            given = {"arguments": given}
        written = await answered(ctx, self.workers, operation, given, self.identify(ctx))
        if isinstance(written, RelayedPrompt):
            return GetPromptResult.model_validate(written.model_dump())
        return as_result(operation, cast(PromptText, written))

    async def complete(self, ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        work = partial(complete, params, self.identify(ctx))
        found = await self.workers.run_safely("completion", work)
        has_more = found.total > len(found.values)
        return CompleteResult(
            completion=WireCompletion(values=found.values, total=found.total, has_more=has_more)
        )


def as_result(operation: Operation, written: PromptText) -> GetPromptResult:
    message = PromptMessage(role="user", content=TextContent(type="text", text=written.text))
    description = written.description or operation.description
    return GetPromptResult(description=description, messages=[message])


def complete(params: CompleteRequestParams, caller: Caller) -> Completion:
    operation = completed(params)
    guards.authorize(operation, caller)
    if operation.waits:  # a prompt of another server, whose arguments are unknown here
        return Completion([], 0)
    if operation.kind == "resource":
        resources.check(caller, resources.forms(operation.name))
    limits.throttle(operation, caller)
    ensure_storable({"value": params.argument.value})
    if params.argument.name not in argument_names(operation, caller):
        return Completion([], 0)
    return completions.complete(caller, params.argument.name, params.argument.value)


def argument_names(operation: Operation, caller: Caller) -> Collection[str]:
    """Return the arguments of a prompt, or the variables of a resource."""
    if operation.kind == "resource":
        return resources.variables_of(operation.name)
    if operation.request is not GivenArguments:
        return operation.request.model_fields
    offered = {one.name: one.arguments for one in prompts.offers(caller)}
    return [one.name for one in offered.get(operation.name, ())]


def completed(params: CompleteRequestParams) -> Operation:
    """Return the operation that the argument belongs to."""
    if isinstance(params.ref, PromptReference):
        return prompts.get(params.ref.name)
    for resource in resources.installed():
        if resource.template == params.ref.uri:
            return resource.reading
    if (known := resources.at(params.ref.uri)).relayed:
        return known.reading
    raise NotFound(f"there is no resource template {params.ref.uri[:200]!r}")


def offer_of(operation: Operation) -> Offer:
    return Offer(
        name=operation.name,
        title=operation.name.replace("_", " ").capitalize(),
        description=operation.description,
        arguments=tuple(
            Argument(name, field.description, field.is_required())
            for name, field in operation.request.model_fields.items()
        ),
    )


def as_prompt(offer: Offer) -> Prompt:
    return Prompt(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        meta={CANONICAL: offer.canonical} if offer.canonical else None,
        arguments=[
            PromptArgument(name=one.name, description=one.description, required=one.is_required)
            for one in offer.arguments
        ],
    )
