"""`manage.py token create|list|revoke`: bearer tokens for MCP and REST clients."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from contexts import services
from contexts.models import Token


class Command(BaseCommand):
    help = "Create, list and revoke the bearer tokens of MCP and REST clients."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a token and print it this one time")
        create.add_argument("--user", required=True, help="the user it acts as")
        create.add_argument("--name", required=True, help="where it is used, such as 'laptop'")
        create.add_argument("--days", type=int, help="how long it is valid; for ever when absent")
        actions.add_parser("list", help="show all tokens, without their secrets")
        revoke = actions.add_parser("revoke", help="end a token at once")
        revoke.add_argument("id", type=int)

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        match action:
            case "create":
                self.create(options["user"], options["name"], options["days"])
            case "list":
                self.list()
            case "revoke":
                self.revoke(options["id"])

    def create(self, user: str, name: str, days: int | None) -> None:
        owner = get_user_model().objects.filter(username=user).first()
        if owner is None:
            raise CommandError(
                f"there is no user {user!r}; make one with manage.py createsuperuser"
            )
        expires_at = timezone.now() + timedelta(days=days) if days else None
        _, secret = services.create_token(owner, name=name, expires_at=expires_at)
        self.stdout.write(secret)

    def list(self) -> None:
        for token in Token.objects.select_related("user"):
            state = "revoked" if token.revoked_at else f"expires {token.expires_at or 'never'}"
            self.stdout.write(f"{token.pk}\t{token}\t{token.user}\t{state}")

    def revoke(self, token_id: int) -> None:
        token = Token.objects.filter(pk=token_id).first()
        if token is None:
            raise CommandError(f"there is no token {token_id}; see manage.py token list")
        services.revoke_token(token)
        self.stdout.write(f"revoked: {token}")
