import django.contrib.postgres.fields
from django.db import migrations, models

COUNT = """
UPDATE analytics_event SET returned = cardinality(found)
WHERE found IS NOT NULL AND (found <> '{}' OR domain NOT IN ('file', 'threat'))
"""
"""What those of the two kinds left out had found was not recorded."""


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0002_single_calls"),
    ]

    operations = [
        migrations.AddField(
            model_name="event",
            name="returned",
            field=models.PositiveIntegerField(
                help_text="How many records a search returned", null=True
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="found",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(),
                help_text="Ids of what a search returned, as far as known",
                null=True,
                size=None,
            ),
        ),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
    ]
