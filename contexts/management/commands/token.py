"""`manage.py token create|list|revoke`: bearer tokens for MCP and REST clients."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.utils import timezone

from contextd.management.actions import ActionCommand
from contexts import services, tokens
from contexts.models import Token

MAX_NAME_LENGTH = 100
MAX_DAYS = 36_500


class Command(ActionCommand):
    help = "Create, list and revoke the bearer tokens of MCP and REST clients."

    def add_actions(self) -> None:
        create = self.add_action("create", self.create, help="create a token and print it once")
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
            help="a context it may use; may be given several times; all when absent",
        )
        create.add_argument(
            "--default-context", help="the context of requests that name none; otherwise 'default'"
        )
        self.add_action("list", self.list_tokens, help="show all tokens, without their secrets")
        revoke = self.add_action("revoke", self.revoke, help="revoke a token immediately")
        revoke.add_argument("id", type=int)

    def create(self, **options: Any) -> None:
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
            contexts=[services.context_named(name) for name in names] if names else None,
            default_context=services.context_named(default) if default else None,
        )
        self.stdout.write(secret)

    def list_tokens(self, **options: Any) -> None:
        for token in Token.objects.select_related("user").prefetch_related("contexts"):
            self.stdout.write(
                f"{token.pk}\t{token}\t{token.user}\t{scope(token)}\t{state(token)}\t{use(token)}"
            )
        if not Token.objects.exists():
            self.stdout.write("There are no tokens; create one with: token create")

    def revoke(self, *, id: int, **options: Any) -> None:
        token = Token.objects.filter(pk=id).first()
        if token is None:
            raise CommandError(f"there is no token {id}; see manage.py token list")
        tokens.revoke(token)
        self.stdout.write(f"revoked: {token}")


def short_name(text: str) -> str:
    if not 0 < len(text.strip()) <= MAX_NAME_LENGTH:
        raise ArgumentTypeError(f"a name must have 1 to {MAX_NAME_LENGTH} characters")
    return text


def days(text: str) -> timedelta:
    if not text.isdecimal() or not 1 <= float(text) <= MAX_DAYS:
        raise ArgumentTypeError(
            f"must be a whole number from 1 to {MAX_DAYS}; omit it for no expiry"
        )
    return timedelta(days=int(text))


def scope(token: Token) -> str:
    permission = "reads" if token.is_read_only else "executes"
    where = "all contexts" if token.all_contexts else ", ".join(map(str, token.contexts.all()))
    return f"{permission} in {where or 'no context'}"


def state(token: Token) -> str:
    if token.revoked_at:
        return "revoked"
    return f"expires {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "never expires"


def use(token: Token) -> str:
    return f"last used {token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "unused"
