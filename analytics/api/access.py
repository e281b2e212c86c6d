"""Authentication, permissions, error format and rate limits of the dashboard's API."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpResponse, JsonResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from contextd import (
    auth,
    guards,
    http_errors,
    logins,
    operations,
    protected_resource,
    throttling,
)
from contextd.callers import Caller
from contextd.errors import ContextdError, Invalid, NotFound


def caller_of(request: Request) -> Caller:
    """Return the caller set by CallerAuthentication."""
    return cast(Caller, request.auth)


class CallerAuthentication(BaseAuthentication):
    """Authenticates by the usual tokens or a login; `request.auth` is the Caller."""

    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        user = getattr(request._request, "user", AnonymousUser())
        if user.is_authenticated and "Authorization" not in request.headers:
            return user, logins.caller_of(request._request)
        return user, auth.caller_of_django(request._request, "rest")

    def authenticate_header(self, request: Request) -> str:
        return protected_resource.challenge()


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = CallerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class MayReadAnalytics(BasePermission):
    """Permits callers who may call `analytics_get`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        caller = caller_of(request)
        throttling.take(
            request._request, "dashboard", caller.principal, settings.CONTEXTD_DASHBOARD_RATE
        )
        guards.authorize(operations.get("analytics_get"), caller)
        return True


def explain(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Return the error in the common JSON format; None for a bug, which propagates."""
    told = as_ours(error)
    if told is None:
        return None
    headers = http_errors.headers_of(told)
    return JsonResponse(told.as_dict(), status=told.status, headers=headers)


def as_ours(error: Exception) -> ContextdError | None:
    if isinstance(error, ContextdError):
        return error
    if isinstance(error, exceptions.ValidationError):
        return invalid(error)
    if isinstance(error, Http404 | exceptions.NotFound):
        return NotFound("there is nothing at this address; /api/dashboard/ lists what exists")
    if isinstance(error, exceptions.APIException):
        refused = Invalid(str(error.detail))
        refused.status = error.status_code  # type: ignore[misc]  # sets the status of this instance
        return refused
    return None


def invalid(error: exceptions.ValidationError) -> Invalid:
    detail = error.detail if isinstance(error.detail, dict) else {"arguments": error.detail}
    problems = [
        {"field": str(field), "error": f"{field}: {' '.join(map(str, sentences))}"}
        for field, sentences in detail.items()
    ]
    return Invalid(
        "; ".join(problem["error"] for problem in problems), **problems[0], problems=problems
    )
