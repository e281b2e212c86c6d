"""`manage.py token create|list|revoke`: bearer tokens for MCP and REST clients."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from contextd.errors import ContextdError
from contexts import services, tokens
from contexts.models import Context, Token

MAX_NAME_LENGTH = 100
MAX_DAYS = 36_500


class Command(BaseCommand):
    help = "Create, list and revoke the bearer tokens of MCP and REST clients."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a token and print it this one time")
        create.add_argument("--user", required=True, help="the user it acts as")
        create.add_argument(
            "--name", type=short_name, required=True, help="where it is used, such as 'laptop'"
        )
        create.add_argument("--days", type=days, help="how long it is valid; omit for no expiry")
        create.add_argument("--read-only", action="store_true", help="it cannot change anything")
        create.add_argument(
            "--context",
            action="append",
            dest="contexts",
            help="use it only in this one; may be given several times; all when absent",
        )
        create.add_argument(
            "--default-context", help="where requests work that name none; else 'default'"
        )
        actions.add_parser("list", help="show all tokens, without their secrets")
        revoke = actions.add_parser("revoke", help="end a token at once")
        revoke.add_argument("id", type=int)

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            getattr(self, action)(options)
        except ContextdError as error:
            raise CommandError(error.message) from None

    def create(self, options: dict[str, Any]) -> None:
        owner = get_user_model().objects.filter(username=options["user"]).first()
        if owner is None:
            raise CommandError(
                f"there is no user {options['user']!r}; create one in the admin, under Users"
            )
        names, default = options["contexts"], options["default_context"]
        _, secret = tokens.create(
            owner,
            name=options["name"],
            expires_at=timezone.now() + options["days"] if options["days"] else None,
            is_read_only=options["read_only"],
            contexts=[context_named(name) for name in names] if names else None,
            default_context=context_named(default) if default else None,
        )
        self.stdout.write(secret)

    def list(self, options: dict[str, Any]) -> None:
        for token in Token.objects.select_related("user").prefetch_related("contexts"):
            self.stdout.write(f"{token.pk}\t{token}\t{token.user}\t{scope(token)}\t{state(token)}")
        if not Token.objects.exists():
            self.stdout.write("There are no tokens; create one with: token create")

    def revoke(self, options: dict[str, Any]) -> None:
        token = Token.objects.filter(pk=options["id"]).first()
        if token is None:
            raise CommandError(f"there is no token {options['id']}; see manage.py token list")
        tokens.revoke(token)
        self.stdout.write(f"revoked: {token}")


def short_name(text: str) -> str:
    if not 0 < len(text.strip()) <= MAX_NAME_LENGTH:
        raise ArgumentTypeError(f"a name has 1 to {MAX_NAME_LENGTH} characters")
    return text


def days(text: str) -> timedelta:
    if not text.isdecimal() or not 1 <= float(text) <= MAX_DAYS:
        raise ArgumentTypeError(f"a whole number from 1 to {MAX_DAYS}; omit it for no expiry")
    return timedelta(days=int(text))


def context_named(name: str) -> Context:
    return services.named(Context, "name", name)


def scope(token: Token) -> str:
    permission = "reads" if token.is_read_only else "executes"
    where = "all contexts" if token.all_contexts else ", ".join(map(str, token.contexts.all()))
    return f"{permission} in {where or 'no context'}"


def state(token: Token) -> str:
    if token.revoked_at:
        return "revoked"
    return f"expires {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "never expires"
