from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contextd", "0006_loaded_libraries")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="is_joined",
            field=models.BooleanField(
                default=False, help_text="Somebody other than its creator waits for it too"
            ),
        ),
    ]
