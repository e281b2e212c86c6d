"""Commands with subcommands, such as `manage.py contexts list`."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contextd.errors import ContextdError


class ActionCommand(BaseCommand):
    """Calls the function of the chosen subcommand with the options as keyword arguments."""

    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        self._actions = parser.add_subparsers(dest="action", required=True)
        self.add_actions()

    def add_actions(self) -> None:
        """Call `add_action` for each subcommand."""
        raise NotImplementedError

    def add_action(self, name: str, run: Callable[..., None], *, help: str) -> ArgumentParser:
        parser: ArgumentParser = self._actions.add_parser(name, help=help)
        parser.set_defaults(run=run)
        return parser

    def handle(self, *args: Any, run: Callable[..., None], **options: Any) -> None:
        try:
            run(**options)
        except ContextdError as error:
            raise CommandError(error.message) from None
