"""The REST door: one POST route per installed operation, and their OpenAPI page."""

import json
from contextlib import AbstractContextManager
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import register_converter
from django.urls.converters import StringConverter
from django.utils.deprecation import MiddlewareMixin
from ninja import NinjaAPI
from pydantic import BaseModel

import contextd
from contextd import auth, http_errors, operations, outages, pipeline, throttling
from contextd.callers import Caller
from contextd.concurrency import MAX_QUEUED_CALLS, ConcurrencyLimit, PlaceLimit
from contextd.conversations import Alone
from contextd.errors import ContextdError, Invalid, NotFound, WrongMethod
from contextd.operations import Operation

PREFIX = "/api/v1/"
MAX_WAITING_CALLS = 200
MAX_WAITING_CALLS_PER_PRINCIPAL = 50

api = NinjaAPI(
    title="contextd",
    version=contextd.__version__,
    description="Every operation of contextd. The same arguments and answers as over MCP.",
    urls_namespace="rest",
)


concurrency_limit = ConcurrencyLimit(settings.WORKERS, MAX_QUEUED_CALLS)
waiting_limit = PlaceLimit(MAX_WAITING_CALLS, MAX_WAITING_CALLS_PER_PRINCIPAL)


class Failure(BaseModel):
    """The one shape of an error."""

    category: str
    message: str
    details: dict[str, Any]


FAILURES = dict.fromkeys((400, 401, 403, 404, 413, 421, 429, 500, 503, 504), Failure)


def add_route(operation: Operation) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return answer(operation.name, request)

    api.post(
        f"/{operation.name}",
        response={200: operation.result, **FAILURES},
        operation_id=operation.name,
        summary=first_sentence(operation.description),
        tags=[operation.canonical_name.partition(":")[0]],
        description=operation.description,
        openapi_extra={"requestBody": request_body(operation), "security": [{}, {"bearer": []}]},
    )(view)


def first_sentence(text: str) -> str:
    sentence, _, _ = " ".join(text.split()).partition(". ")
    return sentence.removesuffix(".")


def answer(name: str, request: HttpRequest) -> HttpResponse:
    caller, alone = admitted(request), Alone(request.headers)
    operation, arguments = operations.get(name), read_arguments(request)
    with place_for(operation, caller):
        result = pipeline.call_operation(operation, arguments, caller, alone)
    return HttpResponse(result.model_dump_json(), content_type="application/json")


def place_for(operation: Operation, caller: Caller) -> AbstractContextManager[None]:
    """Return the limit of calls that wait, which hold a thread only, or that of all others."""
    if operation.waits:
        return waiting_limit.place(caller.principal, "waiting calls")
    return concurrency_limit.slot(operation.timeout)


def admitted(request: HttpRequest) -> Caller:
    """Return the sender, unless they send too many requests.

    The rate is above those of operations: it also limits requests that reach no operation.
    """
    caller = auth.caller_of_django(request, "rest")
    throttling.take(request, "rest", caller.principal, settings.CONTEXTD_REST_RATE)
    return caller


class CanonicalName(StringConverter):
    """Matches `github:create_issue`: names with a colon; all other names stay unknown."""

    regex = "[a-z0-9-]+:.+"


register_converter(CanonicalName, "canonical")


@api.post("/{canonical:name}", include_in_schema=False)
def call_by_canonical_name(request: HttpRequest, name: str) -> HttpResponse:
    """Call an operation that is provided at run time and so has no route."""
    return answer(name, request)


def request_body(operation: Operation) -> dict[str, Any]:
    schema = operation.request.model_json_schema()
    required = bool(schema.get("required"))
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def read_arguments(request: HttpRequest) -> dict[str, Any]:
    """Return the arguments. The required content type keeps out forms of other sites."""
    if not request.body:
        return {}
    if request.content_type != "application/json":
        raise Invalid("send the arguments as application/json", field="Content-Type")
    try:
        arguments = json.loads(request.body)
    except (ValueError, RecursionError):  # not JSON, or no JSON that a client would send
        raise Invalid("the body is not JSON", field="body") from None
    if not isinstance(arguments, dict):
        raise Invalid("the body must be a JSON object of arguments", field="body")
    return arguments


@api.exception_handler(ContextdError)
def on_error(request: HttpRequest, error: ContextdError) -> HttpResponse:
    response = api.create_response(request, error.as_dict(), status=error.status)
    for name, value in http_errors.headers_of(error).items():
        response[name] = value
    return response


@api.exception_handler(Exception)
def on_bug(request: HttpRequest, error: Exception) -> HttpResponse:
    return on_error(request, outages.as_public_error(f"{request.method} {request.path}", error))


class OneErrorShape(MiddlewareMixin):
    """Converts Django's own answers at our addresses to our format of errors."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        explain = _DJANGOS_OWN.get(response.status_code)
        is_ours = not request.path.startswith(PREFIX) or "json" in response["Content-Type"]
        return response if is_ours or not explain else on_error(request, explain(request))


def _no_such_address(request: HttpRequest) -> ContextdError:
    names = [operation.name for operation in operations.installed()]
    return NotFound(
        f"not found: {request.path[:255]!r}; "
        f"POST to {PREFIX}NAME, where NAME is one of: {', '.join(names)}"
    )


def _wrong_method(request: HttpRequest) -> ContextdError:
    return WrongMethod(
        f"{request.path} does not support {request.method}: use POST",
        field="method",
        allowed=["POST"],
    )


_DJANGOS_OWN = {404: _no_such_address, 405: _wrong_method}


for _operation in operations.installed():
    add_route(_operation)
