"""Recompute fingerprints: upper-case ids and hashes and 32-bit addresses no longer count."""

from importlib import import_module

from django.db import migrations

recompute = import_module("remediations.migrations.0002_recompute_fingerprints").recompute


class Migration(migrations.Migration):
    dependencies = [("remediations", "0005_index_of_solutions")]

    operations = [migrations.RunPython(recompute, migrations.RunPython.noop)]
