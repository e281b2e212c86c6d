"""Endpoints for load balancers: whether the process is alive, and whether it can serve."""

from django.http import HttpRequest, JsonResponse

from contextd import search, status, web


def live(request: HttpRequest) -> JsonResponse:
    uptime = web.uptime()
    return JsonResponse(web.Life(uptime=uptime.total_seconds() if uptime else 0).model_dump())


def ready(request: HttpRequest) -> JsonResponse:
    services = status.probe_all(vital_only=True)
    missing = {name: service.error for name, service in services.items() if service.error}
    if not search.is_warm():
        missing["model"] = "the embedding model is still loading"
    return JsonResponse(
        {"status": "waiting" if missing else "ready", "missing": missing},
        status=503 if missing else 200,
    )
