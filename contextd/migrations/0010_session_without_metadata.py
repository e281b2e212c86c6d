from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("contextd", "0009_job_request_count")]

    operations = [migrations.RemoveField("session", "metadata")]
