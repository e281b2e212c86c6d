"""The command-line door: `manage.py call checkpoint_search query="..." top_k=3`."""

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from contextd import auth, guards, operations, pipeline
from contextd.errors import ContextdError, NotFound
from contextd.operations import Operation


class Command(BaseCommand):
    help = "Call an operation; without a name, list them all."
    requires_system_checks = []

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(
            *args,
            formatter_class=RawDescriptionHelpFormatter,
            epilog=describe_asked(sys.argv[2:]),
            **kwargs,
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="the operation")
        parser.add_argument("arguments", nargs="*", metavar="key=value", help="value may be JSON")
        parser.add_argument(
            "--as", dest="user", metavar="USER", help="act as this user, not as the machine's owner"
        )
        parser.add_argument(
            "--context",
            default=settings.ENVIRONMENT.context,
            help="the context to work in; default: CONTEXTD_CONTEXT, then 'default'",
        )
        parser.add_argument(
            "--contracts", action="store_true", help="print the contracts of all operations as JSON"
        )

    def handle(self, *args: Any, name: str | None, contracts: bool, **options: Any) -> None:
        if contracts:
            self.stdout.write(json.dumps(all_contracts(), indent=2, sort_keys=True))
        elif name is None:
            self.stdout.write(describe_all())
        else:
            self.stdout.write(call(name, **options))


def call(
    name: str, arguments: list[str], user: str | None, context: str | None, **options: Any
) -> str:
    if name != guards.ALWAYS_AVAILABLE:
        connection.ensure_connection()  # if that fails, `manage.py` explains how to start one
    try:
        operation = known(name)
        caller = auth.caller_of_cli(user, context)
        result = pipeline.call(name, dict(read_pair(pair, operation) for pair in arguments), caller)
    except ContextdError as error:
        raise CommandError(json.dumps(error.as_dict(), indent=2)) from None
    return result.model_dump_json(indent=2)


def known(name: str) -> Operation:
    try:
        return operations.get(name)
    except NotFound as error:
        names = [operation.name for operation in operations.available()]
        raise NotFound(f"{error.message}; available: {', '.join(names)}") from None


def all_contracts() -> dict[str, Any]:
    return {operation.name: operation.contract() for operation in operations.installed()}


def describe_asked(words: list[str]) -> str:
    """Return the help: `call NAME --help` describes NAME, `call --help` what all take."""
    named = [operation for operation in operations.installed() if operation.name in words]
    return "\n".join(map(describe, named)) or describe_all()


def describe_all() -> str:
    return "\n".join(describe(operation) for operation in operations.installed())


def describe(operation: Operation) -> str:
    lines = [f"{operation.name}: {operation.description.splitlines()[0]}"]
    schema = operation.input_schema()
    for name, field in schema.get("properties", {}).items():
        needed = " (required)" if name in schema.get("required", []) else ""
        lines.append(f"    {name}{needed}: {field.get('description', '')}")
    return "\n".join(lines)


def read_pair(pair: str, operation: Operation) -> tuple[str, Any]:
    """Parse `key=value`: `top_k=3` is a number, `tags=a,b` or `tags=["a","b"]` a list, text is
    text."""
    key, separator, value = pair.partition("=")
    if not separator:
        raise CommandError(f"{pair!r} is not key=value")
    schema = operation.input_schema().get("properties", {}).get(key, {})
    types = {option.get("type") for option in schema.get("anyOf", [schema])}
    if "string" in types:
        return key, value
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value.split(",") if "array" in types else value
