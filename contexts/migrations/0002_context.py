import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contextd', '0001_initial'),
        ('contexts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Context',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9][a-z0-9._-]*\\Z', 'Use lower-case letters, digits, dots, dashes and underscores.')])),
                ('description', models.TextField(blank=True, max_length=1000)),
                ('is_active', models.BooleanField(default=True, help_text='Off: it is treated as if it did not exist')),
                ('is_open', models.BooleanField(default=False, help_text='Everybody with an account may execute in it, without a grant')),
                ('tools', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Names of tools or globs, such as checkpoint_*, separated by commas; empty: none', size=None)),
                ('resources', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='URIs of resources or globs, such as checkpoint://*, separated by commas; empty: none', size=None)),
                ('prompts', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Names of prompts or globs, such as review_*, separated by commas; empty: none', size=None)),
                ('all_projects', models.BooleanField(default=False, help_text='It contains every project')),
                ('calls_per_second', models.PositiveSmallIntegerField(blank=True, help_text="For each connection and tool; empty: the tool's own rate", null=True)),
                ('calls_at_once', models.PositiveSmallIntegerField(blank=True, help_text='Maximum number in one burst', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('projects', models.ManyToManyField(blank=True, help_text='Projects whose records are visible in it; none: only shared knowledge', related_name='contexts', to='contextd.project')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.CharField(choices=[('read', 'read: use what only reads'), ('execute', 'execute: use everything in it'), ('manage', 'manage: use everything and change the context')], default='execute', max_length=10)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('context', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='contexts.context')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='auth.group')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['context', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Variable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, validators=[django.core.validators.RegexValidator('^[A-Za-z_][A-Za-z0-9_]*\\Z', 'Use letters, digits and underscores; do not begin with a digit.')])),
                ('ciphertext', models.TextField(editable=False)),
                ('is_secret', models.BooleanField(default=True, help_text='Never shown again once it is saved')),
                ('context', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='variables', to='contexts.context')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddConstraint(
            model_name='context',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('calls_at_once__isnull', True), ('calls_per_second__isnull', True)), models.Q(('calls_at_once__gte', 1), ('calls_at_once__isnull', False), ('calls_per_second__gte', 1), ('calls_per_second__isnull', False)), _connector='OR'), name='context_rate_whole', violation_error_message='Give both numbers of the rate, at least 1, or neither.'),
        ),
        migrations.AddConstraint(
            model_name='context',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('name', 'default'), _negated=True), ('is_active', True), _connector='OR'), name='context_default_stays', violation_error_message='Requests that name no context use this one, and so does the admin. To keep people out, close it: then they need a grant.'),
        ),
        migrations.AddConstraint(
            model_name='grant',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('group__isnull', False), ('user__isnull', True)), models.Q(('group__isnull', True), ('user__isnull', False)), _connector='OR'), name='grant_to_one', violation_error_message='Choose a user or a group, and not both.'),
        ),
        migrations.AddConstraint(
            model_name='grant',
            constraint=models.UniqueConstraint(fields=('context', 'user', 'group'), name='grant_once', nulls_distinct=False, violation_error_message='There is already a grant for them; change that one.'),
        ),
        migrations.AddConstraint(
            model_name='variable',
            constraint=models.UniqueConstraint(fields=('context', 'name'), name='variable_once', violation_error_message='The context already has a variable of this name.'),
        ),
    ]
