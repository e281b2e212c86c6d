"""Users, groups, and the log of changes in the admin."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin as DjangosGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangosUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.utils.html import format_html
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from contextd.admin.exporting import Exportable, Rows
from contextd.admin.theme import ModelAdmin, ReadOnly

admin.site.unregister(User)
admin.site.unregister(Group)


class PermissionRows(Rows):
    """Exports permissions by their names in code."""

    permissions: str

    def cell(self, record: Any, name: str) -> Any:
        if name != self.permissions:
            return super().cell(record, name)
        return sorted(map(name_of, getattr(record, name).all()))


def name_of(permission: Permission) -> str:
    return f"{permission.content_type.app_label}.{permission.codename}"


class UserRows(PermissionRows):
    """Exports users without their password hashes."""

    permissions = "user_permissions"
    columns = [
        *("username", "first_name", "last_name", "email", "is_active", "is_staff"),
        *("is_superuser", "groups", permissions, "date_joined", "last_login"),
    ]
    prefetched = ["groups", f"{permissions}__content_type"]


class GroupRows(PermissionRows):
    permissions = "permissions"
    columns = ["name", permissions]
    prefetched = [f"{permissions}__content_type"]


class LogRows(Rows):
    columns = [
        *("action_time", "user", "content_type", "object_id", "object_repr", "action"),
        "change_message",
    ]

    def cell(self, record: LogEntry, name: str) -> Any:
        match name:
            case "action":
                return record.get_action_flag_display()
            case "change_message":
                return record.get_change_message()
        return super().cell(record, name)


@admin.register(User)
class UserAdmin(Exportable, DjangosUserAdmin[User], ModelAdmin[User]):
    group, icon = "Access", "person"
    about = (
        "Who may log in. Staff see the pages of records they have permissions for; their "
        "assistants authenticate with tokens."
    )
    rows = UserRows
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(Exportable, DjangosGroupAdmin, ModelAdmin[Group]):
    group, icon = "Access", "groups"
    about = "Permissions shared by several users; contexts can be granted to groups, too."
    rows = GroupRows


@admin.register(LogEntry)
class LogEntryAdmin(Exportable, ReadOnly, ModelAdmin[LogEntry]):
    group, icon = "Activity", "history"
    about = "Who changed what in the admin, and when. Each record also has its own history."
    rows = LogRows
    list_display = ["action_time", "user", "content_type", "record", "get_change_message"]
    list_filter = ["action_flag", "content_type", "user", "action_time"]
    list_select_related = ["user", "content_type"]
    search_fields = ["object_repr", "change_message", "user__username"]

    @admin.display(description="record")
    def record(self, entry: LogEntry) -> str:
        address = None if entry.is_deletion() else entry.get_admin_url()
        return format_html('<a href="{}">{}</a>', address, entry) if address else str(entry)
