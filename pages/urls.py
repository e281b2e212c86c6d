"""Where people find what."""

from django.urls import path

from pages import access, views

urlpatterns = [
    path("dashboard/", views.home, name="home"),
    path("dashboard/context/", access.choose_context, name="choose-context"),
    path("dashboard/health/", views.health, name="home-health"),
    path("dashboard/search/", views.search, name="search"),
    path("dashboard/live/", views.live, name="live"),
    path("dashboard/live/stream/", views.live_stream, name="live-stream"),
    path("dashboard/records/<str:kind>/<int:pk>/", views.record, name="record"),
    path("dashboard/records/<str:kind>/<int:pk>/related/", views.related, name="record-related"),
]
