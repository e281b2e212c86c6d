from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contextd", "0008_projects_as_they_are_asked_for")]

    operations = [
        migrations.RemoveField("job", "is_joined"),
        migrations.AddField(
            model_name="job",
            name="request_count",
            field=models.PositiveIntegerField(
                default=1, help_text="Number of requests for it that were not withdrawn"
            ),
        ),
    ]
