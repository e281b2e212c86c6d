"""Recompute fingerprints and digests: more error codes and all layout of code count now."""

from importlib import import_module

from django.db import migrations

recompute = import_module("remediations.migrations.0002_recompute_fingerprints").recompute


class Migration(migrations.Migration):
    dependencies = [("remediations", "0002_recompute_fingerprints")]

    operations = [migrations.RunPython(recompute, migrations.RunPython.noop)]
