"""Remotes and paths in the form that is looked for now; where that is taken, two projects stay two."""

from typing import Any

from django.db import migrations

HOSTS_OF_ANY_CASE = ("github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/")


def lower_remotes(apps: Any, schema_editor: Any) -> None:
    projects = apps.get_model("contextd", "Project").objects
    for project in projects.exclude(git_remote=None):
        remote = project.git_remote.lower()
        if remote.startswith(HOSTS_OF_ANY_CASE) and remote != project.git_remote:
            is_taken = projects.filter(git_remote=remote).exists()
            projects.filter(pk=project.pk).update(git_remote=None if is_taken else remote)


def raise_drives(apps: Any, schema_editor: Any) -> None:
    paths = apps.get_model("contextd", "ProjectPath").objects
    for folder in paths.filter(path__regex=r"^[a-z]:"):
        path = folder.path[0].upper() + folder.path[1:]
        if not paths.filter(path=path).exists():
            paths.filter(pk=folder.pk).update(path=path)


class Migration(migrations.Migration):
    dependencies = [("contextd", "0007_job_is_joined")]

    operations = [
        migrations.RunPython(lower_remotes, migrations.RunPython.noop),
        migrations.RunPython(raise_drives, migrations.RunPython.noop),
    ]
