"""The REST door: one POST route per installed operation, and their OpenAPI page."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from pydantic import BaseModel

import contextd
from contextd import auth, operations, pipeline, protected_resource
from contextd.errors import ContextdError, Invalid, RateLimited
from contextd.operations import Operation

api = NinjaAPI(
    title="contextd",
    version=contextd.__version__,
    description="Every operation of contextd. The same arguments and answers as over MCP.",
    urls_namespace="rest",
)


class Failure(BaseModel):
    """The one shape of an error."""

    category: str
    message: str
    details: dict[str, Any]


FAILURES = dict.fromkeys((400, 401, 403, 404, 429, 500, 503, 504), Failure)


def add_route(operation: Operation) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        result = pipeline.call(
            operation.name, read_arguments(request), auth.caller_of_django(request, "rest")
        )
        return HttpResponse(result.model_dump_json(), content_type="application/json")

    api.post(
        f"/{operation.name}",
        response={200: operation.result, **FAILURES},
        operation_id=operation.name,
        summary=operation.name,
        description=operation.description,
        openapi_extra={"requestBody": request_body(operation), "security": [{}, {"bearer": []}]},
    )(view)


def request_body(operation: Operation) -> dict[str, Any]:
    schema = operation.request.model_json_schema()
    required = bool(schema.get("required"))
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def read_arguments(request: HttpRequest) -> dict[str, Any]:
    """An empty body is no arguments; the content type keeps other sites' forms out."""
    if not request.body:
        return {}
    if request.content_type != "application/json":
        raise Invalid("send the arguments as application/json", field="Content-Type")
    try:
        arguments = json.loads(request.body)
    except ValueError as error:
        raise Invalid(f"the body is not JSON: {error}", field="body") from None
    if not isinstance(arguments, dict):
        raise Invalid("the body must be a JSON object of arguments", field="body")
    return arguments


@api.exception_handler(ContextdError)
def on_error(request: HttpRequest, error: ContextdError) -> HttpResponse:
    response = api.create_response(request, error.as_dict(), status=error.status)
    if isinstance(error, RateLimited):
        response["Retry-After"] = str(max(1, round(error.details["retry_after"] + 0.5)))
    if error.status == 401:
        response["WWW-Authenticate"] = protected_resource.challenge()
    return response


for _operation in operations.installed():
    add_route(_operation)
