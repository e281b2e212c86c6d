"""Addresses of the dashboard's API."""

from django.urls import path
from drf_spectacular.views import SpectacularJSONAPIView

from analytics.api import views as api

urlpatterns = [
    path("api/dashboard/", api.Index.as_view(), name="dashboard"),
    path(
        "api/dashboard/openapi.json",
        SpectacularJSONAPIView.as_view(),
        name="dashboard-openapi",
    ),
    path("api/dashboard/series/", api.Series.as_view(), name="dashboard-series"),
    path("api/dashboard/latencies/", api.Latencies.as_view(), name="dashboard-latencies"),
    path("api/dashboard/top/<str:what>/", api.Top.as_view(), name="dashboard-top"),
    path("api/dashboard/calls/", api.CallList.as_view(), name="dashboard-calls"),
    path("api/dashboard/sessions/", api.Sessions.as_view(), name="dashboard-sessions"),
    path("api/dashboard/audit/", api.Audit.as_view(), name="dashboard-audit"),
    path("api/dashboard/records/", api.Domains.as_view(), name="dashboard-records"),
    path(
        "api/dashboard/records/<str:domain>/",
        api.Records.as_view(),
        name="dashboard-records-of",
    ),
]
