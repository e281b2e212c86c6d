from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from contextd import health, protected_resource, throttling
from contextd.rest import api

admin.autodiscover()  # here and not in `ready`, since only processes that serve pages need it

urlpatterns = [
    path("", RedirectView.as_view(url="/dashboard/")),
    path("admin/login/", throttling.slowed(admin.site.login, settings.CONTEXTD_LOGIN_RATE)),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("healthz", health.live),
    path("readyz", health.ready),
    path("favicon.ico", RedirectView.as_view(url="/static/contextd/icon.svg")),
    path(".well-known/oauth-protected-resource", protected_resource.metadata),
    path(".well-known/oauth-protected-resource/mcp", protected_resource.metadata),
    *(path("", include(module)) for module in settings.CONTEXTD_PAGES),
]

handler404 = "contextd.server_errors.not_found"
handler500 = "contextd.server_errors.answer"
