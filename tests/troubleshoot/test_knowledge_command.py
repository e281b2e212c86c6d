"""`manage.py knowledge validate` refuses broken files, with file and line."""

from pathlib import Path
from textwrap import dedent

import pytest
from django.core.management import CommandError, call_command

from troubleshoot import knowledge

ENTRY = """\
- id: disk-full
  title: The disk is full
  category: storage
  severity: high
  technologies: [linux]
  errors:
    - No space left on device
    - ENOSPC
  signatures: ['No space left']
  cause: All blocks of the file system are taken.
  confirm:
    - run: df -h
      expect: 100%
  fix:
    - do: Look what is big
      run: du -sh /var
    - do: Delete logs
      run: rm -rf /var/log/old
      destructive: true
"""


@pytest.fixture
def complaints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> "Complaints":
    return Complaints(tmp_path, capsys)


class Complaints:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder, self._capsys = folder, capsys

    def entry_of(self, text: str) -> knowledge.Entry:
        (self._folder / "entry.yaml").write_text(text, encoding="utf-8")
        return knowledge.read(self._folder).patterns[-1].entry

    def about(self, *files: str) -> list[str]:
        for number, text in enumerate(files):
            (self._folder / f"{number}.yaml").write_text(dedent(text), encoding="utf-8")
        with pytest.raises(CommandError):
            call_command("knowledge", "validate", str(self._folder))
        return self._capsys.readouterr().err.splitlines()


def test_right_files_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "linux.yaml").write_text(ENTRY, encoding="utf-8")

    call_command("knowledge", "validate", str(tmp_path))

    assert capsys.readouterr().out == "1 patterns in 1 files are right\n"


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("  title: The disk is full\n", "", "0.yaml:1: title is required"),
        ("severity: high", "severity: bad", "0.yaml:4: severity: input should be"),
        ("category: storage", "category: food", "0.yaml:3: category: input should be"),
        ("  cause:", "  because: x\n  cause:", "0.yaml:10: because is not a known field"),
        ("    - ENOSPC\n", "", "0.yaml:6: errors: list should have at least 2 items"),
        ("id: disk-full", "id: Disk_Full", "0.yaml:1: id: string should match pattern"),
        (
            "'No space left'",
            "'No (space'",
            "0.yaml:9: signatures.0 is not a valid regular expression",
        ),
        ("'No space left'", r"'(o|\s|.|\S)+(?<!e)$'", "0.yaml:9: signatures.0 takes too long"),
        ("'No space left'", "'x{99999}'", "0.yaml:9: signatures.0 repeats its parts more than"),
        ("'No space left'", "'x*'", "0.yaml:9: signatures.0 fits any text"),
        ("'No space left'", "'disk quota'", "0.yaml:9: signatures.0 is in none of the errors"),
        ("run: df -h", "run: rm -r /x", "0.yaml:12: confirm.0 must only look, but it deletes /x"),
        (
            "      destructive: true\n",
            "",
            "0.yaml:17: fix.1 must say destructive: true, since it deletes /var/log/old",
        ),
        (
            "      run: du -sh /var\n",
            "      run: du -sh /var\n      destructive: true\n    - {do: Wait, run: sleep 1}\n",
            "0.yaml:18: fix.1 is safe, so it must stand before what destroys",
        ),
        ("'No space left'", "'No (?P<blank>space)'", "0.yaml:9: signatures.0 names no placeholder"),
        ("title: The", "title: [The", "0.yaml:"),
        (
            "  severity: high\n",
            "  severity: high\n  severity: low\n",
            "0.yaml:5: severity is given",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_line(
    complaints: Complaints, before: str, after: str, complaint: str
) -> None:
    assert before in ENTRY
    reported = complaints.about(ENTRY.replace(before, after))

    assert any(line.startswith(complaint) for line in reported), reported


def test_a_check_does_not_have_the_values_of_its_example(complaints: Complaints) -> None:
    """They would confirm the cause of every other error."""
    entry = ENTRY.replace("    - ENOSPC\n", "    - \"ENOSPC, write '/srv/shop.db'\"\n")
    entry = entry.replace("run: df -h\n", "run: ls /srv/shop.db\n")
    named = entry.replace("are taken.", "are taken by /srv/shop.db.")
    reason = "0.yaml:12: confirm.0 has '/srv/shop.db' of its example: write {file}"

    assert complaints.about(entry)[0].startswith(reason)
    assert list(knowledge.problems_of(complaints.entry_of(named))) == []


@pytest.mark.parametrize(
    ("error", "run", "value", "name"),
    [
        ("acme needs PHP 8.2.0 to start", "acme use 8.2.0", "8.2.0", "version"),
        ("no match for acme==1.2", "pip show acme==1.2", "acme==1.2", "requirement"),
        ("shop 1.2 depends on acme<2", "pip show shop", "shop", "package"),
        ('Hint: "pip install types-acme"', "pip show types-acme", "types-acme", "package"),
        ("denied: /srv/data/a.bin", "ls /srv/data/a.bin", "/srv/data/a.bin", "file"),
        ("denied: /srv/data/a.bin", "ls /srv/data/*", "/srv/data", "folder"),
        ("src/Shop.js: no loader", "git log src/Shop.js", "src/Shop.js", "file"),
        ("exec /start.sh: not found", "ls start.sh", "start.sh", "file"),
        ("package shop/store is not in std", "go list shop/store", "shop/store", "module"),
    ],
)
def test_no_version_requirement_or_path_of_an_example_stands_in_a_command(
    complaints: Complaints, error: str, run: str, value: str, name: str
) -> None:
    entry = ENTRY.replace("    - ENOSPC\n", f"    - '{error}, ENOSPC'\n")
    entry = entry.replace("run: df -h\n", f"run: {run}\n")

    reason = f"0.yaml:12: confirm.0 has {value!r} of its example: write {{{name}}}"
    assert any(line.startswith(reason) for line in complaints.about(entry))


@pytest.mark.parametrize("path", ["/etc/hosts", "/var/log", "/dev/null", "bin/rails"])
def test_paths_that_are_the_same_everywhere_may_stand_in_a_command(
    complaints: Complaints, path: str
) -> None:
    entry = ENTRY.replace("    - ENOSPC\n", f"    - 'denied: {path}, ENOSPC'\n")
    entry = entry.replace("run: df -h\n", f"run: ls {path}\n")

    assert list(knowledge.problems_of(complaints.entry_of(entry))) == []


def test_a_fix_does_not_have_the_values_of_its_example(complaints: Complaints) -> None:
    """They would change what belongs to somebody else."""
    entry = ENTRY.replace("    - ENOSPC\n", "    - \"ENOSPC, write '/srv/shop.db'\"\n")
    entry = entry.replace("run: rm -rf /var/log/old", "run: rm /srv/shop.db")
    reason = "0.yaml:17: fix.1 has '/srv/shop.db' of its example: write {file}"

    assert complaints.about(entry)[0].startswith(reason)


def test_an_id_is_taken_once_over_all_files(complaints: Complaints) -> None:
    assert complaints.about(ENTRY, ENTRY) == ["1.yaml:1: id disk-full is already used by 0.yaml:1"]


def test_an_id_of_a_shipped_pattern_is_refused(complaints: Complaints) -> None:
    entry = ENTRY.replace("id: disk-full", "id: linux-address-in-use")

    assert complaints.about(entry) == [
        "0.yaml:1: id linux-address-in-use is already used by a shipped pattern"
    ]


def test_rivals_must_be_there(complaints: Complaints) -> None:
    rival = "  confused_with:\n    - id: {}\n      tell: it is not\n"

    for name in ("nobody", "disk-full"):
        reported = complaints.about(ENTRY + rival.format(name))
        assert reported == [f"0.yaml:21: confused_with names no other pattern: {name}"]


def test_rivals_may_ship_or_have_mistakes_of_their_own(complaints: Complaints) -> None:
    rival = "  confused_with:\n    - id: {}\n      tell: it is not\n"
    other = ENTRY.replace("id: disk-full", "id: other").replace("high", "bad")

    for name in ("other", next(iter(knowledge.read().patterns)).entry.id):
        reported = complaints.about(ENTRY + rival.format(name), other)
        assert [line.partition(" ")[0] for line in reported] == ["1.yaml:4:"]


def test_a_shipped_pattern_needs_a_reference_and_a_rival(
    complaints: Complaints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rival = "  confused_with: [{id: disk-full, tell: it is not}]\n"
    whole = ENTRY.replace("disk-full", "other") + rival
    whole += "  references: [https://example.com/disks]\n"
    reasons = [
        "confused_with is empty: add a pattern with nearly the same output",
        "references is empty: add a page of the tool's official documentation",
    ]
    monkeypatch.setattr(knowledge, "FOLDER", tmp_path)

    assert complaints.about(ENTRY, whole) == [f"0.yaml:1: {reason}" for reason in reasons]


def test_folders_are_read_to_the_bottom(complaints: Complaints, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.yaml").write_text("id: x", encoding="utf-8")
    (tmp_path / "a/c.yml").write_text("id: x", encoding="utf-8")

    assert complaints.about(ENTRY) == [
        "a/b.yaml:1: a file of patterns is a list of them",
        "a/c.yml:1: it is ignored: its name must end in .yaml",
    ]


def test_a_file_must_be_a_list(complaints: Complaints) -> None:
    assert complaints.about("id: x\n") == ["0.yaml:1: a file of patterns is a list of them"]


def test_a_folder_without_patterns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there are no patterns in"):
        call_command("knowledge", "validate", str(tmp_path))
