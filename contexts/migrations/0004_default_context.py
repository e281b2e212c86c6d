from django.db import migrations


def ship(apps, schema_editor):
    apps.get_model("contexts", "Context").objects.get_or_create(
        name="default",
        defaults={
            "description": "Everything, for everybody with an account. "
            "Requests that name no context work in it.",
            "is_open": True,
            "tools": ["*"],
            "resources": ["*"],
            "prompts": ["*"],
            "all_projects": True,
        },
    )


def take_back(apps, schema_editor):
    apps.get_model("contexts", "Context").objects.filter(name="default").delete()


class Migration(migrations.Migration):

    dependencies = [
        ("contexts", "0003_token_scope"),
    ]

    operations = [
        migrations.RunPython(ship, take_back),
    ]
