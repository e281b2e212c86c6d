"""The commands of `manage.py`."""

import subprocess
import sys

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command, find_commands, get_commands

from contextd.apps import BROKEN, BYPASSING
from tests.server import ROOT


@pytest.mark.parametrize("name", [*BYPASSING, *BROKEN])
def test_library_commands_that_bypass_our_rules_or_fail_are_removed(name: str) -> None:
    assert name not in get_commands()
    with pytest.raises(CommandError, match="Unknown command"):
        call_command(name)


def test_a_python_without_django_says_which_one_to_use() -> None:
    without_packages = [sys.executable, "-S", "manage.py", "help"]
    done = subprocess.run(without_packages, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr.startswith("contextd: this Python has no Django; run .venv/bin/python")
    assert done.stderr.count("\n") == 1


def test_every_command_of_ours_is_documented() -> None:
    documented = (ROOT / "docs/commands.md").read_text()
    ours = {
        name
        for app in apps.get_app_configs()
        if ROOT in (folder := ROOT / app.path).parents and ".venv" not in folder.parts
        for name in find_commands(f"{app.path}/management")
    }

    assert {"up", "call", "reembed", "gateway"} <= ours
    assert [name for name in sorted(ours) if f"\n| `{name}` |" not in documented] == []


def test_a_command_whose_reader_ends_prints_no_traceback() -> None:
    command = [sys.executable, "manage.py", "help"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        errors = process.stderr.read()

    assert process.returncode == 1
    assert "BrokenPipe" not in errors
