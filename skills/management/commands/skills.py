from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contextd import projects
from contextd.auth import local_caller
from contextd.errors import ContextdError
from contextd.management.arguments import folder
from skills import sources, transfer
from skills.models import Skill


class Command(BaseCommand):
    help = "Take in and hand out skills in the Agent Skills format: folders with a SKILL.md"
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        taking = actions.add_parser("import", help="keep the skills of a folder or a zip archive")
        source = taking.add_mutually_exclusive_group(required=True)
        source.add_argument("path", nargs="?", type=Path, help="a folder, a git work tree or a zip")
        source.add_argument("--starter", action="store_true", help="the skills that ship with it")
        taking.add_argument("--project", type=folder, help="a folder of the only project to use it")
        taking.add_argument("--note", default="", help="why, for the history")
        taking.add_argument(
            "--allow-credentials", action="store_true", help="keep what looks like a credential"
        )
        giving = actions.add_parser("export", help="write skills as folders or as a zip archive")
        giving.add_argument("path", type=Path, help="a folder, or the zip to write (NAME.zip)")
        giving.add_argument("names", nargs="*", help="only these, such as code-review")
        giving.add_argument("--all", action="store_true", help="drafts and retired ones too")
        giving.add_argument("--replace", action="store_true", help="write over what is there")
        checking = actions.add_parser("validate", help="look for what breaks the format")
        checking.add_argument("path", type=Path)

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        act = {"import": self.take_in, "export": self.hand_out, "validate": self.validate}[action]
        try:
            act(options)
        except ContextdError as error:
            raise CommandError(error.message) from None

    def take_in(self, options: dict[str, Any]) -> None:
        caller = local_caller("admin")  # it is a curator's command, so drafts count and none waits
        if options["starter"]:
            found = sources.skills_shipped(transfer.STARTER)
        else:
            found = sources.skills_at(options["path"])
        project = projects.resolve(caller, options["project"]) if options["project"] else None
        imported = transfer.take_in(
            caller,
            found,
            project,
            options["note"],
            with_credentials=options["allow_credentials"],
        )
        refused = 0
        for one in imported:
            refused += one.outcome == "refused"
            self.tell(one)
        if refused:
            raise CommandError(f"{refused} of {len(found)} were refused; the others are kept")

    def tell(self, imported: transfer.Imported) -> None:
        self.stdout.write(f"{imported.outcome}: {imported.skill or imported.place}")
        for remark in imported.remarks:
            self.stderr.write(f"{imported.place}: {remark}")

    def hand_out(self, options: dict[str, Any]) -> None:
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
            raise CommandError(f"{path} is there already; give another name, or --replace")
        path.write_bytes(content)

    def validate(self, options: dict[str, Any]) -> None:
        found = sources.skills_at(options["path"])
        for one in found:
            for problem in one.problems:
                self.stderr.write(f"{one.place}: {problem}")
        bad = sum(bool(one.problems) for one in found)
        if bad:
            raise CommandError(f"{bad} of {len(found)} skills have problems")
        self.stdout.write(f"{len(found)} skills are good")
