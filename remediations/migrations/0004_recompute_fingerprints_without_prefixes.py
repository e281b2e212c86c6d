"""Recompute fingerprints: prefixes of Apache and AWS Lambda and more dates no longer count."""

from importlib import import_module

from django.db import migrations

recompute = import_module("remediations.migrations.0002_recompute_fingerprints").recompute


class Migration(migrations.Migration):
    dependencies = [("remediations", "0003_recompute_fingerprints_with_codes")]

    operations = [migrations.RunPython(recompute, migrations.RunPython.noop)]
