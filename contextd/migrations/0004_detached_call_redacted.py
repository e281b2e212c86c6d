from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contextd", "0003_detached_calls")]

    operations = [
        migrations.AddField(
            model_name="detachedcall",
            name="redacted",
            field=models.PositiveIntegerField(
                default=0, help_text="Number of credentials removed from the arguments"
            ),
        ),
    ]
