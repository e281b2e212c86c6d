"""The conversation between a waiting operation and the client that called it."""

import contextlib
import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from mcp.types import (
    CallToolRequestParams,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponse,
    InputResponses,
)
from pydantic import TypeAdapter, ValidationError

from contextd import limits, pipeline
from contextd.callers import Caller
from contextd.conversations import Alone, Detached, F, Foreign, Form, Question, Unanswered
from contextd.errors import Declined, Invalid, Unsupported
from contextd.mcp import answers, foreign
from contextd.mcp.tools import Context
from contextd.operations import Operation, Result
from contextd.workers import Workers

STEP_SECONDS = 30
"""Time limit for each piece of work that a waiting operation does in a thread."""

UNATTENDED_SECONDS = 6 * 60 * 60
"""Time limit for a call that nobody waits for; its caller can cancel it."""

Outcome = TypeVar("Outcome")
Replies = Mapping[str, Any]

_response: TypeAdapter[InputResponse] = TypeAdapter(InputResponse)


class Attended:
    """A conversation with a client that waits for the answer."""

    def __init__(self, ctx: Context, workers: Workers) -> None:
        self._ctx, self._workers = ctx, workers

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        await self._ctx.session.report_progress(done, total, message)

    def header(self, name: str) -> str | None:
        request = self._ctx.request
        return request.headers.get(name) if request else None

    def allowance(self, seconds: float) -> float:
        return seconds

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        return await step(self._workers, work)


class OneWay(Attended, Alone):
    """A conversation in which nobody can be asked, such as that of `prompts/get`."""


async def answered(
    ctx: Context, workers: Workers, operation: Operation, arguments: dict[str, Any], caller: Caller
) -> Result:
    """Run an operation in which nobody can be asked, whether it waits or not."""
    if operation.waits:
        return await pipeline.call_async(operation, arguments, caller, OneWay(ctx, workers))
    work = partial(pipeline.call_operation, operation, arguments, caller)
    return await workers.run(work, seconds=operation.timeout)


class Live(Attended):
    """Up to 2025-11-25: a question is a request to the client, whose reply the operation awaits."""

    async def ask(self, key: str, text: str, form: type[F]) -> F:
        require_person(self._ctx, [text])
        with foreign.expecting_reply():
            reply = await self._ctx.session.elicit_form(
                text, form.model_json_schema(), related_request_id=self._ctx.request_id
            )
        filled = fill(Question(text, form), reply.model_dump())
        if filled is None:
            raise Invalid(f"the reply does not match the form {form.__name__}", field=key)
        return cast(F, filled)

    async def ask_all(self, questions: Mapping[str, Question]) -> Mapping[str, Form]:
        return {key: await self.ask(key, one.text, one.form) for key, one in questions.items()}

    @property
    def replied(self) -> Collection[str]:
        return ()

    async def pass_on(self, questions: Mapping[str, Foreign]) -> Mapping[str, Any]:
        return {key: await foreign.put(self._ctx, one) for key, one in questions.items()}

    async def take_time(self) -> bool:
        return False


class Rounds(Attended):
    """2026-07-28: the operation runs again with the replies until it has no more questions."""

    def __init__(self, ctx: Context, workers: Workers, replies: Replies) -> None:
        super().__init__(ctx, workers)
        self._replies = replies

    async def ask(self, key: str, text: str, form: type[F]) -> F:
        return cast(F, (await self.ask_all({key: Question(text, form)}))[key])

    async def ask_all(self, questions: Mapping[str, Question]) -> Mapping[str, Form]:
        forms = {key: fill(one, self._replies.get(key)) for key, one in questions.items()}
        open_questions = {key: questions[key] for key, form in forms.items() if form is None}
        if open_questions:
            require_person(self._ctx, [one.text for one in open_questions.values()])
            raise Unanswered(open_questions)
        return {key: form for key, form in forms.items() if form is not None}

    @property
    def replied(self) -> Collection[str]:
        return self._replies.keys()

    async def pass_on(self, questions: Mapping[str, Foreign]) -> Mapping[str, Any]:
        if questions.keys() - self._replies.keys():
            for question in questions.values():
                foreign.require(self._ctx, question)
            raise Unanswered(questions)
        return {key: self._replies[key] for key in questions}

    async def take_time(self) -> bool:
        if can_come_back(self._ctx):
            raise Detached
        return False


class Unattended(Rounds):
    """A call that nobody waits for: the client finds its questions when it polls."""

    async def report(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        return None

    async def take_time(self) -> bool:
        return True

    def allowance(self, seconds: float) -> float:
        return UNATTENDED_SECONDS


async def step(workers: Workers, work: Callable[[], Outcome]) -> Outcome:
    return await workers.run(work, seconds=min(limits.time_left(), STEP_SECONDS))


def can_come_back(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return bool(capabilities and answers.TASKS in (capabilities.extensions or {}))


def require_person(ctx: Context, texts: list[str]) -> None:
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        raise Unsupported(
            f"a person has to be asked, which your client does not offer: {' '.join(texts)}",
            ability="questions",
        )


def fill(question: Question, reply: Any) -> Form | None:
    """Return the filled form, or None if there is no valid reply, so that it is asked again."""
    if not isinstance(reply, Mapping):
        return None
    if reply.get("action") != "accept":
        raise Declined(f"the person did not agree: {question.text}")
    try:
        return question.form.model_validate(reply.get("content"))
    except ValidationError:
        return None


def replies_in(params: CallToolRequestParams) -> dict[str, Any]:
    """Return the replies of this round and of earlier rounds."""
    earlier: dict[str, Any] = json.loads(params.request_state) if params.request_state else {}
    return earlier | replies_of(params.input_responses or {})


def recognised(responses: Mapping[str, Any]) -> InputResponses:
    """Return the responses that the protocol defines; others answer no question."""
    found: InputResponses = {}
    for key, response in responses.items():
        with contextlib.suppress(ValidationError):
            found[key] = _response.validate_python(response, by_name=False)
    return found


def replies_of(responses: InputResponses) -> dict[str, Any]:
    """Return the replies of the kinds that an operation can ask for."""
    return {
        key: reply.model_dump(mode="json", by_alias=True, exclude_none=True)
        for key, reply in responses.items()
        if isinstance(reply, ElicitResult | CreateMessageResult | CreateMessageResultWithTools)
    }


def as_round(questions: Mapping[str, Question | Foreign], replies: Replies) -> InputRequiredResult:
    """Return the result that asks the client to call again and carries the replies so far."""
    return InputRequiredResult(
        input_requests={key: as_request(one) for key, one in questions.items()},
        request_state=json.dumps(replies) if replies else None,
    )


def as_request(question: Question | Foreign) -> ElicitRequest | CreateMessageRequest:
    if isinstance(question, Foreign):
        return foreign.as_request(question)
    schema = question.form.model_json_schema()
    params = ElicitRequestFormParams(mode="form", message=question.text, requested_schema=schema)
    return ElicitRequest(params=params)
