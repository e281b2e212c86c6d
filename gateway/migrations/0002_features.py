import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Prompts and resources are kept as tools are."""

    dependencies = [("gateway", "0001_initial")]

    operations = [
        migrations.RenameModel("UpstreamTool", "UpstreamFeature"),
        migrations.RemoveConstraint("upstreamfeature", "upstream_tool_once"),
        migrations.AlterModelOptions("upstreamfeature", {"ordering": ["kind", "wire_name"]}),
        migrations.AlterField(
            "upstreamfeature",
            "upstream",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="features",
                to="gateway.upstream",
            ),
        ),
        migrations.AddField(
            "upstreamfeature",
            "kind",
            models.CharField(
                choices=[
                    ("tool", "Tool"),
                    ("prompt", "Prompt"),
                    ("resource", "Resource"),
                    ("template", "Template"),
                ],
                default="tool",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            "upstreamfeature",
            "name",
            models.CharField(help_text="Of a resource: its address there", max_length=1000),
        ),
        migrations.AlterField(
            "upstreamfeature",
            "wire_name",
            models.CharField(
                help_text="What clients are told; of a resource: its address", max_length=1050
            ),
        ),
        migrations.AddConstraint(
            "upstreamfeature",
            models.UniqueConstraint(
                fields=["upstream", "kind", "name"], name="upstream_feature_once"
            ),
        ),
        migrations.AddConstraint(
            "upstreamfeature",
            models.UniqueConstraint(fields=["kind", "wire_name"], name="upstream_wire_name_once"),
        ),
    ]
