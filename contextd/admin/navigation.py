"""Where things are found: the side bar, and the first page of the admin."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static

GROUPS = ("Knowledge", "Code", "Other servers", "Access", "Activity")
Group = dict[str, Any]


def groups(request: HttpRequest) -> list[Group]:
    """What this person may see, by what it is about; whatever says nothing comes last."""
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
    """What our own pages add to the theme."""
    return static("contextd/admin.css")


def script(request: HttpRequest) -> str:
    """What makes the theme usable for those who do not see it."""
    return static("contextd/admin.js")
