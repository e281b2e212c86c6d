"""Give stored remediations the fingerprint and digest that saving one computes now."""

from typing import Any

from django.db import migrations

from remediations import reading
from remediations.services import digest_of


def recompute(apps: Any, schema_editor: Any) -> None:
    """Leave a remediation as it is where another one has become the same."""
    remediations = apps.get_model("remediations", "Remediation").objects
    for row in remediations.order_by("pk").iterator():
        read = reading.read(row.error_message, row.stack_trace, row.error_type)
        same = {
            "fingerprint": read.fingerprint,
            "solution_digest": digest_of(row.solution),
            "project_id": row.project_id,
        }
        if not remediations.filter(**same).exists():
            remediations.filter(pk=row.pk).update(**same, calls=list(read.calls))


class Migration(migrations.Migration):
    dependencies = [("remediations", "0001_initial")]

    operations = [migrations.RunPython(recompute, migrations.RunPython.noop)]
