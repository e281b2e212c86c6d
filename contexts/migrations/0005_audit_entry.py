import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('contexts', '0004_default_context'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ('principal', models.CharField(max_length=100)),
                ('operation', models.CharField(help_text="'-': refused before an operation was called", max_length=150)),
                ('context', models.CharField(max_length=64)),
                ('door', models.CharField(choices=[('mcp', 'mcp'), ('rest', 'rest'), ('cli', 'cli'), ('admin', 'admin'), ('task', 'task')], max_length=10)),
                ('client', models.CharField(max_length=100)),
                ('connection', models.CharField(max_length=200)),
                ('outcome', models.CharField(choices=[('ok', 'ok'), ('validation', 'validation'), ('not_found', 'not_found'), ('unauthorized', 'unauthorized'), ('rate_limited', 'rate_limited'), ('timeout', 'timeout'), ('internal', 'internal')], max_length=20)),
                ('was_allowed', models.BooleanField()),
                ('milliseconds', models.FloatField()),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-at'],
                'indexes': [models.Index(fields=['operation', '-at'], name='audit_of_operation')],
            },
        ),
    ]
