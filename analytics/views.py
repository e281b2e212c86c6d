"""The dashboard: pages for people."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analytics import overview
from contextd import auth, guards, operations, status
from contextd.callers import Caller
from contextd.errors import NotAllowed, NotAuthenticated
from contextd.models import Project

LOGIN = "/admin/login/"

Page = Callable[[HttpRequest, Caller], HttpResponse]


class Scope(forms.Form):
    """Which days, and which project."""

    days = forms.TypedChoiceField(
        choices=[(7, "7 days"), (30, "30 days"), (90, "90 days")], coerce=int, label="Period"
    )
    project = forms.ModelChoiceField(
        Project.objects.none(), required=False, empty_label="All projects"
    )

    def __init__(self, caller: Caller, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        visible = self.fields["project"]
        visible.queryset = Project.objects.visible_to(caller)  # type: ignore[attr-defined]


def for_callers(page: Page) -> Callable[[HttpRequest], HttpResponse]:
    """Who is logged in sees it, and whoever needs no login; others are sent to log in."""

    @require_safe
    @wraps(page)
    def view(request: HttpRequest) -> HttpResponse:
        try:
            caller = caller_of(request)
            guards.authorize(operations.get("analytics_get"), caller)
        except NotAuthenticated:
            return redirect_to_login(request.get_full_path(), LOGIN)
        except NotAllowed as error:
            return render(request, "dashboard/refused.html", {"reason": error.message}, status=403)
        return page(request, caller)

    return view


def caller_of(request: HttpRequest) -> Caller:
    if request.user.is_authenticated:
        return auth.caller_of_admin(request)
    return auth.caller_of_django(request, "rest")


@for_callers
def home(request: HttpRequest, caller: Caller) -> HttpResponse:
    scope = Scope(caller, {"days": "30", **request.GET.dict()})
    chosen = scope.cleaned_data if scope.is_valid() else {}
    shown = overview.overview(caller, chosen.get("days", 30), chosen.get("project"))
    context = {"scope": scope, "shown": shown, "series": series_of(shown)}
    return render(request, "dashboard/home.html", context)


def series_of(shown: overview.Overview) -> dict[str, Any]:
    """What the charts draw; the tables beside them say the same."""
    return {
        "calls": {
            "labels": [f"{day.day:%b %d}" for day in shown.days],
            "Calls": [day.calls for day in shown.days],
            "Failed": [day.failures for day in shown.days],
        },
        "latencies": {
            "labels": [one.operation for one in shown.latencies],
            "p50": [one.half for one in shown.latencies],
            "p95": [one.most for one in shown.latencies],
            "p99": [one.nearly_all for one in shown.latencies],
        },
    }


@for_callers
def health(request: HttpRequest, caller: Caller) -> HttpResponse:
    """Asked for by the home page once it is shown: a probe may take a second."""
    services = status.probe_all()
    context = {"overall": status.overall(services), "services": sorted(services.items())}
    return render(request, "dashboard/health.html", context)
