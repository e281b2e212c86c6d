"""Pages for people: dashboard, search, single records, and live calls."""

from functools import partial
from typing import Any

from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from analytics import calls, overview
from analytics.calls import Wanted
from contextd import limits, status, throttling
from contextd.callers import Caller
from contextd.validation import parse_digits
from pages import access, records, searching, streaming
from pages.access import caller_by_now, for_callers
from pages.forms import Asked, Scope, WantedCalls
from pages.home import series_of
from pages.streaming import News

SEARCHES = "20/s"
MAX_CALLS = 50
NOT_KEPT = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@for_callers
def home(request: HttpRequest, caller: Caller) -> HttpResponse:
    scope = Scope(caller, {"days": "30", **request.GET.dict()})
    chosen = scope.chosen()
    shown = overview.overview(caller, chosen.get("days", 30), chosen.get("project"))
    context = {
        "scope": scope,
        "shown": shown,
        "series": series_of(shown),
        "filters": request.GET.urlencode(),
    }
    return render(request, "dashboard/home.html", context)


@for_callers
def errors(request: HttpRequest, caller: Caller) -> HttpResponse:
    """Loaded after the home page, since it runs a search per error without a fix."""
    throttling.take(request, "search", caller.principal, SEARCHES)
    chosen = Scope(caller, {"days": "30", **request.GET.dict()}).chosen()
    with limits.deadline(searching.MAX_SEARCH_SECONDS):
        found = overview.errors(caller, chosen.get("days", 30), chosen.get("project"))
    context = {"errors": found, "lacking": "none known"}
    return whole_or_part(request, "dashboard/errors_page.html", "dashboard/errors.html", context)


@for_callers
def health(request: HttpRequest, caller: Caller) -> HttpResponse:
    """Loaded after the home page, since a probe may take a second."""
    services = status.services_for(caller)
    context = {"overall": status.overall(services), "services": sorted(services.items())}
    return whole_or_part(request, "dashboard/health_page.html", "dashboard/health.html", context)


@for_callers
def search(request: HttpRequest, caller: Caller) -> HttpResponse:
    throttling.take(request, "search", caller.principal, SEARCHES)
    form = Asked({"kind": "", **request.GET.dict()})
    chosen = form.chosen()
    query = chosen.get("q", "")
    answer = searching.everything(caller, query, chosen.get("kind", "")) if query else None
    return whole_or_part(
        request,
        "dashboard/search.html",
        "dashboard/results.html",
        {"form": form, "query": query, "answer": answer},
    )


@for_callers
def record(request: HttpRequest, caller: Caller, kind: str, pk: int) -> HttpResponse:
    page = records.page(caller, kind, pk)
    context = {"record": page, "admin_link": access.admin_link(request, page.model)}
    return render(request, "dashboard/record.html", context)


@for_callers
def related(request: HttpRequest, caller: Caller, kind: str, pk: int) -> HttpResponse:
    """Loaded after the record's page, since it runs a search."""
    throttling.take(request, "search", caller.principal, SEARCHES)
    groups = records.related(caller, kind, pk)
    context = {"groups": groups, "kind": kind, "pk": pk}
    return whole_or_part(request, "dashboard/related_page.html", "dashboard/related.html", context)


def whole_or_part(
    request: HttpRequest, page: str, part: str, context: dict[str, Any]
) -> HttpResponse:
    """Render only the part for htmx, which inserts it into the current page."""
    is_restored = "HX-History-Restore-Request" in request.headers
    wants_part = "HX-Request" in request.headers and not is_restored
    response = render(request, part if wants_part else page, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@for_callers
def live(request: HttpRequest, caller: Caller) -> HttpResponse:
    form = WantedCalls(caller, request.GET)
    last = calls.last_key()
    shown = calls.newest(caller, form.wanted(), limit=MAX_CALLS)
    context = {"form": form, "calls": shown, "last": last, "filters": request.GET.urlencode()}
    return render(request, "dashboard/live.html", context)


@for_callers
def live_stream(request: HttpRequest, caller: Caller) -> StreamingHttpResponse:
    """Stream table rows for `live` as any process records calls."""
    wanted = WantedCalls(caller, request.GET).wanted()
    position = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    last_seen = parse_digits(position)
    after = calls.last_key() if last_seen is None else last_seen
    look = partial(new_calls, request, wanted)
    close_old_connections()  # Django would do it only at the end of the response
    return StreamingHttpResponse(
        streaming.stream(caller.principal, look, after),
        content_type="text/event-stream",
        headers=NOT_KEPT,
    )


def new_calls(request: HttpRequest, wanted: Wanted, after: int) -> News:
    caller = caller_by_now(request)
    last = calls.last_key()
    new = calls.following(caller, wanted, after=after, limit=MAX_CALLS)
    if not new:
        return News("", max(last, after))
    html = render_to_string("dashboard/calls.html", {"calls": reversed(new)})
    is_full = len(new) == MAX_CALLS
    return News(html, new[-1].pk if is_full else max(last, new[-1].pk), has_more=is_full)
