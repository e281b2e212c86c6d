"""`manage.py contexts list|create|open|close|grant|revoke|validate`."""

from argparse import ArgumentParser
from json import dumps
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from contextd import projects
from contextd.auth import local_caller
from contextd.management.actions import ActionCommand
from contextd.management.arguments import folder
from contexts import services
from contexts.models import Context, Permission


class Command(ActionCommand):
    help = "List, create and check contexts; open and close them; grant and revoke their use."

    def add_actions(self) -> None:
        listing = self.add_action("list", self.list_contexts, help="show all contexts")
        listing.add_argument("--json", action="store_true", help="print all their fields as JSON")
        create = self.add_action("create", self.create, help="create a context")
        create.add_argument("name")
        create.add_argument("--description", default="")
        create.add_argument("--tools", nargs="*", default=[], help="names or globs")
        create.add_argument("--resources", nargs="*", default=[], help="URIs or globs")
        create.add_argument("--prompts", nargs="*", default=[], help="names or globs")
        create.add_argument(
            "--projects", nargs="*", type=folder, default=[], help="paths of their folders"
        )
        create.add_argument(
            "--remotes", nargs="*", default=[], help="git remotes of projects, wherever cloned"
        )
        create.add_argument("--all-projects", action="store_true")
        create.add_argument(
            "--needs-review", action="store_true", help="what is created in it waits for a person"
        )
        create.add_argument("--open", action="store_true", help="let every user use it")
        for name, run, explanation in (
            ("open", self.open, "let every user use it"),
            ("close", self.close, "let only those with a grant use it"),
        ):
            self.add_action(name, run, help=explanation).add_argument("name")
        add_grant(self.add_action("grant", self.grant, help="let a user or a group use a context"))
        add_holder(self.add_action("revoke", self.revoke, help="remove a grant"))
        validate = self.add_action(
            "validate", self.validate, help="report likely mistakes; fails if there are any"
        )
        validate.add_argument("name", nargs="?")

    def list_contexts(self, *, json: bool, **options: Any) -> None:
        contexts = Context.objects.prefetch_related(
            "projects", "grants__user", "grants__group", "grants__context"
        )
        if json:
            self.stdout.write(dumps([described(context) for context in contexts], indent=2))
            return
        for context in contexts:
            self.stdout.write(f"{context}\t{state(context)}\t{context.description}")

    def create(self, **options: Any) -> None:
        context = Context(
            name=options["name"],
            description=options["description"],
            is_open=options["open"],
            needs_review=options["needs_review"],
            tools=options["tools"],
            resources=options["resources"],
            prompts=options["prompts"],
            all_projects=options["all_projects"],
        )
        try:
            context.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        with transaction.atomic():
            context.save()
            caller = local_caller("cli")
            context.projects.set(projects.resolve(caller, path) for path in options["projects"])
            context.projects.add(*map(projects.of_remote, options["remotes"]))
        self.stdout.write(f"created: {context}")
        self.warn(context)

    def open(self, *, name: str, **options: Any) -> None:
        services.set_open(services.context_named(name), is_open=True)
        self.stdout.write(f"{name} is open to every user")

    def close(self, *, name: str, **options: Any) -> None:
        context = services.context_named(name)
        services.set_open(context, is_open=False)
        self.stdout.write(f"{name} is closed: {state(context)}")
        self.warn(context)

    def grant(self, *, name: str, permission: str, user: str, group: str, **options: Any) -> None:
        given = services.grant(
            services.context_named(name), Permission(permission), user=user, group=group
        )
        self.stdout.write(str(given))

    def revoke(self, *, name: str, user: str, group: str, **options: Any) -> None:
        services.revoke(services.context_named(name), user=user, group=group)
        self.stdout.write("revoked")

    def validate(self, *, name: str | None, **options: Any) -> None:
        chosen = [services.context_named(name)] if name else list(Context.objects.all())
        if sum(self.warn(context) for context in chosen):
            raise CommandError("these are likely mistakes")
        self.stdout.write("no mistakes found")

    def warn(self, context: Context) -> int:
        found = services.mistakes(context)
        for mistake in found:
            self.stderr.write(f"{context}: {mistake}")
        return len(found)


def add_grant(parser: ArgumentParser) -> None:
    add_holder(parser)
    parser.add_argument("--permission", choices=Permission.values, default=Permission.EXECUTE.value)


def add_holder(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    holder = parser.add_mutually_exclusive_group(required=True)
    holder.add_argument("--user", default="")
    holder.add_argument("--group", default="", help="all its members")


def state(context: Context) -> str:
    if not context.is_active:
        return "inactive"
    return "open" if context.is_open else f"granted to {len(context.grants.all())}"


def described(context: Context) -> dict[str, Any]:
    return {
        "name": context.name,
        "description": context.description,
        "active": context.is_active,
        "open": context.is_open,
        "needs_review": context.needs_review,
        "tools": context.tools,
        "resources": context.resources,
        "prompts": context.prompts,
        "projects": "all" if context.all_projects else [str(one) for one in context.projects.all()],
        "grants": [str(grant) for grant in context.grants.all()],
    }
