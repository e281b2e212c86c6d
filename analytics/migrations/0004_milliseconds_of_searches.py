from django.db import migrations, models

ESTIMATE = "UPDATE analytics_tally SET search_milliseconds = milliseconds * searches / calls"
"""Tallied days do not record which calls took how long: all count as equally long."""


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0003_searches_by_what_they_returned"),
    ]

    operations = [
        migrations.AddField(
            model_name="tally",
            name="search_milliseconds",
            field=models.FloatField(default=0, help_text="Sum of the milliseconds of searches"),
            preserve_default=False,
        ),
        migrations.RunSQL(ESTIMATE, migrations.RunSQL.noop),
    ]
