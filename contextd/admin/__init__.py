"""Building blocks of the admin, from which apps build their `admin.py`."""

from contextd.admin import accounts, records  # noqa: F401  (they register their pages)
from contextd.admin.by_field import RowsByField
from contextd.admin.editing import (
    ByOperation,
    FreshForm,
    OperationForm,
    one_call,
    tell_redacted,
)
from contextd.admin.exporting import Exportable, Rows
from contextd.admin.rows import RowsByOperation, RowsOfProjects, WritableRows
from contextd.admin.searching import ProjectFilter, SearchByMeaning, TagFilter
from contextd.admin.shipping import OriginFilter, Shipped
from contextd.admin.theme import (
    ONE_A_LINE,
    ModelAdmin,
    NotEditable,
    ReadOnly,
    ReadOnlyInline,
    TabularInline,
)
from contextd.admin.transfer import Transferable

__all__ = [
    "ONE_A_LINE",
    "ByOperation",
    "Exportable",
    "FreshForm",
    "ModelAdmin",
    "NotEditable",
    "OperationForm",
    "OriginFilter",
    "ProjectFilter",
    "ReadOnly",
    "ReadOnlyInline",
    "Rows",
    "RowsByField",
    "RowsByOperation",
    "RowsOfProjects",
    "SearchByMeaning",
    "Shipped",
    "TabularInline",
    "TagFilter",
    "Transferable",
    "WritableRows",
    "one_call",
    "tell_redacted",
]
