from django.contrib import admin
from django.http import HttpRequest

from contextd.admin import (
    ByOperation,
    ModelAdmin,
    ProjectFilter,
    RowsOfProjects,
    TagFilter,
    Transferable,
)
from remediations import services
from remediations.models import Remediation

EDITED = ["error_message", "error_type", "stack_trace", "solution", "context", "tags", "severity"]
READ_ONLY_FIELDS = [
    "project",
    "seen_count",
    "last_seen_at",
    *("worked", "did_not_work", "outdated"),
    *("created_by", "created_at", "updated_at"),
]


class RemediationRows(RowsOfProjects):
    model = Remediation
    save_operation, update_operation = "remediation_save", "remediation_update"
    columns = ["project_path", *EDITED]
    lists, objects = ["tags"], ["context"]
    fixed = ["project_path"]
    same_by = ["error_message", "error_type", "solution"]


@admin.register(Remediation)
class RemediationAdmin(Transferable, ByOperation, ModelAdmin[Remediation]):
    group, icon = "Knowledge", "healing"
    about = (
        "Errors and their fixes. Fixes without a project are shared by all. Proven fixes are "
        "found first."
    )
    rows = RemediationRows
    search_domain = services.DOMAIN
    update_operation, described_by = "remediation_update", "remediation_save"
    operation_fields = EDITED
    delete_operation = "remediation_delete"
    list_display = ["__str__", "error_type", "project", "severity", "tags", "seen_count", "worked"]
    list_filter = [("project", ProjectFilter), "severity", TagFilter, "last_seen_at"]
    list_select_related = ["project"]
    fields = [*EDITED, *READ_ONLY_FIELDS]
    readonly_fields = READ_ONLY_FIELDS

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
