from django.contrib import admin
from django.http import HttpRequest

from checkpoints import services
from checkpoints.models import Checkpoint
from contextd.admin import (
    ByOperation,
    ModelAdmin,
    ProjectFilter,
    RowsByOperation,
    TagFilter,
    Transferable,
)

EDITED = ["summary", "description", "context", "tags"]
READ_ONLY_FIELDS = [
    "project",
    "project_path",
    "token_count",
    "created_by",
    "created_at",
    "updated_at",
]


class CheckpointRows(RowsByOperation):
    model = Checkpoint
    save_operation, update_operation = "checkpoint_save", "checkpoint_update"
    columns = ["project_path", *EDITED]
    lists, objects = ["tags"], ["context"]
    fixed = ["project_path"]
    same_by = ["project_path", "summary", "description"]


@admin.register(Checkpoint)
class CheckpointAdmin(Transferable, ByOperation, ModelAdmin[Checkpoint]):
    group, icon = "Knowledge", "bookmark"
    about = "The state of work sessions, saved by assistants so that a later session can continue."
    rows = CheckpointRows
    search_domain = services.DOMAIN
    update_operation, described_by = "checkpoint_update", "checkpoint_save"
    operation_fields = EDITED
    delete_operation = "checkpoint_delete"
    list_display = ["summary", "project", "tags", "created_by", "created_at"]
    list_filter = [("project", ProjectFilter), TagFilter, "created_at"]
    list_select_related = ["project"]
    fields = [*EDITED, *READ_ONLY_FIELDS]
    readonly_fields = READ_ONLY_FIELDS

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
