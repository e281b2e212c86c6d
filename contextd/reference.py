"""Generate the pages of docs/ about operations and environment variables."""

from pathlib import Path
from typing import Any

from django.conf import settings

from contextd import operations
from contextd.environment import Environment, variable_of
from contextd.operations import Operation

NOTE = "<!-- Made by `manage.py docs`; a test keeps it true. -->\n\n"


def pages() -> dict[Path, str]:
    """Return the text of each generated page by its path."""
    docs = settings.BASE_DIR / "docs"
    return {
        docs / "operations.md": operations_page(),
        docs / "configuration.md": configuration_page(),
    }


def operations_page() -> str:
    installed = operations.installed()
    rows = [
        "# Operations\n",
        NOTE + "Each is an MCP tool, `POST /api/v1/NAME` and `manage.py call NAME`, with the same "
        "arguments and the same answer. Numbers outside their range are set to its nearest end.\n",
        "| operation | effect | time limit | calls per second, at once | what for |",
        "|---|---|---|---|---|",
        *(summary_row(operation) for operation in installed),
        *(section(operation) for operation in installed),
    ]
    return "\n".join(rows) + "\n"


def summary_row(operation: Operation) -> str:
    rate = f"{operation.rate.per_second:g}, {operation.rate.burst}"
    return (
        f"| [`{operation.name}`](#{operation.name}) | {operation.effect} | "
        f"{operation.timeout:g} s | {rate} | {operation.description.splitlines()[0]} |"
    )


def section(operation: Operation) -> str:
    schema = operation.request.model_json_schema()
    arguments = table(schema, schema.get("required", []))
    result = table(operation.result.model_json_schema(mode="serialization"), [])
    return (
        f"\n## {operation.name}\n\n{operation.description}\n\n"
        f"Arguments:\n\n{arguments}\n\nAnswer:\n\n{result}"
    )


def table(schema: dict[str, Any], required: list[str]) -> str:
    properties = schema.get("properties", {})
    if not properties:
        return "none"
    rows = [
        f"| `{name}` | {type_of(field)} | {default_of(name, field, required)} | "
        f"{field.get('description', '')} |"
        for name, field in properties.items()
    ]
    return "\n".join(["| field | type | default | |", "|---|---|---|---|", *rows])


def type_of(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(type_of(option) for option in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    kind = str(field.get("format") or field.get("type", "any"))
    if kind == "array":
        return f"list of {type_of(field['items'])}"
    return f"{kind}, at most {field['maxLength']}" if "maxLength" in field else kind


def default_of(name: str, field: dict[str, Any], required: list[str]) -> str:
    if name in required:
        return "required"
    return f"`{field['default']}`" if field.get("default") not in (None, "") else ""


def configuration_page() -> str:
    rows = [
        "# Configuration\n",
        NOTE + "Set as environment variables; all are checked at start.\n",
        "| variable | default | what for |",
        "|---|---|---|",
    ]
    for name, field in Environment.model_fields.items():
        default = shown_default(field.default)
        rows.append(f"| `{variable_of(name)}` | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def shown_default(value: Any) -> str:
    if isinstance(value, Path):
        value = value.relative_to(settings.BASE_DIR)
    return f"`{value}`" if value not in (None, "", []) else ""
