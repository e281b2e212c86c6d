from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0004_milliseconds_of_searches"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="event",
            name="event_search",
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("found__isnull", False)),
                fields=["at"],
                include=("domain", "query", "returned", "outcome"),
                name="event_search",
            ),
        ),
    ]
