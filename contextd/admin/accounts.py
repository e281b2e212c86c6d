"""People, their groups, and what they changed in the admin."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin as DjangosGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangosUserAdmin
from django.contrib.auth.models import Group, User
from django.utils.html import format_html
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from contextd.admin.theme import LookedAt, ModelAdmin

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(DjangosUserAdmin[User], ModelAdmin[User]):
    group, icon = "Access", "person"
    about = (
        "Who may log in. Staff see these pages, each the kinds of records they have permissions "
        "for; tokens are what their assistants log in with."
    )
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(DjangosGroupAdmin, ModelAdmin[Group]):
    group, icon = "Access", "groups"
    about = "Permissions that many have together; contexts can be granted to groups too."


@admin.register(LogEntry)
class LogEntryAdmin(LookedAt, ModelAdmin[LogEntry]):
    group, icon = "Activity", "history"
    about = "Who changed what in the admin, and when. Each record has its own history as well."
    list_display = ["action_time", "user", "content_type", "record", "get_change_message"]
    list_filter = ["action_flag", "content_type", "user", "action_time"]
    list_select_related = ["user", "content_type"]
    search_fields = ["object_repr", "change_message", "user__username"]
    show_full_result_count = False

    @admin.display(description="record")
    def record(self, entry: LogEntry) -> str:
        address = None if entry.is_deletion() else entry.get_admin_url()
        return format_html('<a href="{}">{}</a>', address, entry) if address else str(entry)
