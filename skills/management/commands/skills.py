from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from contextd import projects
from contextd.auth import local_caller
from contextd.management.actions import ActionCommand
from contextd.management.arguments import folder
from skills import sources, transfer
from skills.models import Skill
from skills.wording import NOTE_LENGTH


def _note(text: str) -> str:
    if len(text) > NOTE_LENGTH:
        raise ArgumentTypeError(f"it has {len(text)} characters, at most {NOTE_LENGTH} are kept")
    return text


class Command(ActionCommand):
    help = "Import and export skills in the Agent Skills format: folders with a SKILL.md"

    def add_actions(self) -> None:
        importing = self.add_action(
            "import", self.import_skills, help="import the skills of a folder or a zip archive"
        )
        source = importing.add_mutually_exclusive_group(required=True)
        source.add_argument("path", nargs="?", type=Path, help="a folder, a git work tree or a zip")
        source.add_argument("--starter", action="store_true", help="the shipped skills")
        importing.add_argument(
            "--project", type=folder, help="folder of the only project to use them"
        )
        importing.add_argument("--note", default="", type=_note, help="why, for the history")
        importing.add_argument(
            "--allow-credentials", action="store_true", help="keep what looks like a credential"
        )
        importing.add_argument(
            "--replace", action="store_true", help="replace edits made here since the last import"
        )
        exporting = self.add_action(
            "export", self.export_skills, help="write skills as folders or as a zip archive"
        )
        exporting.add_argument("path", type=Path, help="a folder, or the zip to write (NAME.zip)")
        exporting.add_argument("names", nargs="*", help="only these, such as code-review")
        exporting.add_argument("--all", action="store_true", help="drafts and retired ones too")
        exporting.add_argument("--replace", action="store_true", help="replace existing folders")
        validating = self.add_action(
            "validate", self.validate, help="report what breaks the format"
        )
        validating.add_argument("path", type=Path)

    def import_skills(self, **options: Any) -> None:
        caller = local_caller("cli", is_curator=True)
        if options["starter"]:
            found = sources.skills_in_folder(transfer.STARTER)
        else:
            found = sources.skills_at(options["path"])
        project = projects.resolve(caller, options["project"]) if options["project"] else None
        imported = transfer.take_in(
            caller,
            found,
            transfer.Wishes(
                project, options["note"], options["allow_credentials"], options["replace"]
            ),
        )
        refused = 0
        for one in imported:
            refused += one.outcome == "refused"
            self.report(one)
        if refused:
            raise CommandError(f"{refused} of {len(found)} were refused; the others are imported")

    def report(self, imported: transfer.Imported) -> None:
        self.stdout.write(f"{imported.outcome}: {imported.skill or imported.place}")
        for remark in imported.remarks:
            self.stderr.write(f"{imported.place}: {remark}")

    def export_skills(self, **options: Any) -> None:
        skills = Skill.objects.all() if options["all"] else Skill.objects.published()
        if options["names"]:
            skills = skills.filter(slug__in=options["names"])
            unknown = set(options["names"]) - set(skills.values_list("slug", flat=True))
            if unknown:
                raise CommandError(f"there is no skill named {', '.join(sorted(unknown))}")
        path: Path = options["path"]
        if path.suffix == ".zip":
            self.write_archive(path, transfer.as_archive(skills), options["replace"])
        else:
            transfer.into_folder(skills, path, replace=options["replace"])
        self.stdout.write(f"{skills.count()} skills written to {path}")

    def write_archive(self, path: Path, content: bytes, replace: bool) -> None:
        if path.exists() and not replace:
            raise CommandError(f"{path} exists already; give another name, or --replace")
        path.write_bytes(content)

    def validate(self, *, path: Path, **options: Any) -> None:
        found = sources.skills_at(path)
        for one in found:
            for problem in [*one.problems, *transfer.remarks_on(one)]:
                self.stderr.write(f"{one.place}: {problem}")
        bad = sum(bool(one.problems) for one in found)
        if bad:
            raise CommandError(f"{bad} of {len(found)} skills have problems")
        self.stdout.write(f"{len(found)} skills are valid")
