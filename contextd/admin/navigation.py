"""The sidebar and the index page of the admin."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static

GROUPS = ("Knowledge", "Code", "Other servers", "Access", "Activity")
Group = dict[str, Any]


def groups(request: HttpRequest) -> list[Group]:
    """Return the pages the user may see, by group; pages without a group come last."""
    by_name: dict[str, list[Group]] = {name: [] for name in GROUPS}
    apps: Any = admin.site.get_app_list(request)
    for app in apps:
        for listed in app["models"]:
            page: Any = admin.site.get_model_admin(listed["model"])
            by_name.setdefault(page.group, []).append(entry(listed, page))
    named: list[Group] = [
        {"title": name, "items": sorted(items, key=lambda item: item["title"])}
        for name, items in by_name.items()
        if items
    ]
    return [{"items": [DASHBOARD]}, *named]


DASHBOARD: Group = {"title": "Dashboard", "icon": "monitoring", "link": "/dashboard/"}


def entry(listed: dict[str, Any], page: Any) -> dict[str, Any]:
    return {
        "title": listed["name"],
        "icon": page.icon,
        "link": listed["admin_url"],
        "about": page.about,
    }


def style(request: HttpRequest) -> str:
    """Return the address of our additions to the theme."""
    return static("contextd/admin.css")


def script(request: HttpRequest) -> str:
    """Return the address of the script that makes the theme accessible."""
    return static("contextd/admin.js")
