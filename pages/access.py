"""Decide who may open the pages, and as which caller."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, cast

from django.contrib import admin
from django.contrib.auth import get_user
from django.contrib.auth.views import LoginView, redirect_to_login
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from contextd import auth, guards, http_errors, logins, operations
from contextd.callers import Caller
from contextd.errors import ContextdError, NotAuthenticated, NotFound
from contexts import services as contexts

Page = Callable[..., HttpResponseBase]


def for_callers(page: Page) -> Page:
    """Require a login where one is needed; redirect others to the login page."""

    @require_safe
    @wraps(page)
    def view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        try:
            return page(request, caller_of(request), **kwargs)
        except NotAuthenticated:
            return redirect_to_login(request.get_full_path(), reverse("login"))
        except ContextdError as error:
            return refused(request, error)

    return view


def caller_of(request: HttpRequest) -> Caller:
    """Return the caller. Raises NotAllowed if it may not call `analytics_get`."""
    is_known = request.user.is_authenticated
    caller = logins.caller_of(request) if is_known else auth.caller_of_django(request, "rest")
    guards.authorize(operations.get("analytics_get"), caller)
    return caller


def login(request: HttpRequest) -> HttpResponse:
    """Log in with a password; attempts are limited by user name, together with the admin's."""
    view = LoginView.as_view(template_name="dashboard/login.html", next_page="home")
    return cast(HttpResponse, view(request))


def admin_link(request: HttpRequest, model: type[Model]) -> str | None:
    """Return the text of a link to a record's page in the admin, or None without permission."""
    if not admin.site.has_permission(request) or not admin.site.is_registered(model):
        return None
    registered = admin.site.get_model_admin(model)
    if registered.has_change_permission(request):
        return "Edit in the admin"
    return "View in the admin" if registered.has_view_permission(request) else None


def contexts_of(request: HttpRequest) -> dict[str, Any]:
    """Provide the current and the selectable contexts to templates; queried on use."""
    return {"context_name": logins.chosen_context(request), "contexts": partial(names_for, request)}


def names_for(request: HttpRequest) -> list[str]:
    return contexts.names_for(request.user.pk) if request.user.is_authenticated else []


@require_POST
def choose_context(request: HttpRequest) -> HttpResponse:
    """Switch the pages to the context; refuse one that the user may not enter."""
    name = request.POST.get("context", "")
    if name not in names_for(request):
        return refused(request, NotFound(f"there is no context {name[:100]!r} that you may use"))
    request.session[logins.CONTEXT] = name
    return redirect("home")


def caller_by_now(request: HttpRequest) -> Caller:
    """Return the caller as of now, for a long-lived response."""
    request.session = type(request.session)(request.session.session_key)
    request.user = get_user(request)
    return caller_of(request)


def refused(request: HttpRequest, error: ContextdError) -> HttpResponse:
    response = render(request, "dashboard/refused.html", {"error": error}, status=error.status)
    for name, value in http_errors.headers_of(error).items():
        response[name] = value
    return response
