import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('contexts', '0002_context'),
    ]

    operations = [
        migrations.AddField(
            model_name='token',
            name='all_contexts',
            field=models.BooleanField(default=True, help_text='It can be used in every context that its user may use'),
        ),
        migrations.AddField(
            model_name='token',
            name='is_read_only',
            field=models.BooleanField(default=False, help_text='It can only read, whatever its user may do'),
        ),
        migrations.AddField(
            model_name='token',
            name='contexts',
            field=models.ManyToManyField(blank=True, help_text='Otherwise only in these', related_name='+', to='contexts.context'),
        ),
        migrations.AddField(
            model_name='token',
            name='default_context',
            field=models.ForeignKey(blank=True, help_text="Context of requests that name none; empty: 'default'", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='contexts.context'),
        ),
    ]
