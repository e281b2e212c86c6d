"""Addresses of the pages for people."""

from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.urls import path

from contextd import throttling
from pages import access, views

urlpatterns = [
    path("dashboard/", views.home, name="home"),
    path(
        "dashboard/login/",
        throttling.slowed(access.login, settings.CONTEXTD_LOGIN_RATE),
        name="login",
    ),
    path("dashboard/logout/", LogoutView.as_view(next_page="login"), name="logout"),
    path("dashboard/context/", access.choose_context, name="choose-context"),
    path("dashboard/errors/", views.errors, name="home-errors"),
    path("dashboard/health/", views.health, name="home-health"),
    path("dashboard/search/", views.search, name="search"),
    path("dashboard/live/", views.live, name="live"),
    path("dashboard/live/stream/", views.live_stream, name="live-stream"),
    path("dashboard/records/<str:kind>/<int:pk>/", views.record, name="record"),
    path("dashboard/records/<str:kind>/<int:pk>/related/", views.related, name="record-related"),
]
