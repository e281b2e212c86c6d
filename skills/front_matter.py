"""The YAML front matter of a SKILL.md, restricted to the types of JSON."""

import io
import json
import re
from typing import Any

import yaml

from contextd.validation import unstorable

MAX_VALUES, MAX_DEPTH = 5_000, 50
"""Maximum values and nesting levels, which determine the parsing time; text length does not."""

_PLAIN: dict[str, re.Pattern[str]] = {
    "tag:yaml.org,2002:null": re.compile(r"~|null|Null|NULL|"),
    "tag:yaml.org,2002:bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    "tag:yaml.org,2002:int": re.compile(r"[-+]?[0-9]+"),
    "tag:yaml.org,2002:float": re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
}
"""The core schema of YAML 1.2, which clients use; 1.1 has dates and reads `no` as false."""
NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}

LINE_BREAKS_OF_YAML = re.compile("[\r\x85\u2028\u2029]")
"""Characters that are read as spaces unless quoted and escaped."""


_ODD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Errors the library raises for invalid tagged values such as `!!bool maybe`."""
ODD = "it contains something other than text, numbers, lists and maps"


class Unreadable(Exception):
    """Raised for invalid front matter; the message says where and why."""


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[Any, Any] = {}
    values = depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise Unreadable("it has an alias (*name); write the value out")
        self.values, self.depth = self.values + 1, self.depth + 1
        if self.values > MAX_VALUES:
            raise Unreadable(f"it has more than {MAX_VALUES:,} keys and values")
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"its lists and maps are nested more than {MAX_DEPTH} deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            _keep_versions_as_text(node)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except _ODD:
            raise Unreadable(f"line {_line_of(node.start_mark)}: {ODD}") from None

    def construct_decimal(self, node: yaml.ScalarNode) -> int:
        """Read `0123` as 123, as YAML 1.2 does; 1.1 reads an octal number."""
        return int(self.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_decimal)


def _check_keys(node: yaml.MappingNode) -> None:
    known: set[str] = set()
    for key, _ in node.value:
        if key.value in known:
            raise Unreadable(f"line {_line_of(key.start_mark)}: the key {key.value!r} occurs twice")
        if isinstance(key, yaml.ScalarNode):
            known.add(key.value)


def _keep_versions_as_text(node: yaml.MappingNode) -> None:
    """Keep `version: 1.10` apart from 1.1, as which a number would be read."""
    for key, value in node.value:
        if key.value == "version" and value.tag in NUMBERS:
            value.tag = "tag:yaml.org,2002:str"


class _Dumper(yaml.SafeDumper):
    """Quotes text that either version of YAML would read as another type."""

    yaml_implicit_resolvers = dict(yaml.SafeDumper.yaml_implicit_resolvers)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _as_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = '"' if LINE_BREAKS_OF_YAML.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _as_text)
for _tag, _pattern in _PLAIN.items():
    _whole = re.compile(rf"^(?:{_pattern.pattern})$")
    _Loader.add_implicit_resolver(_tag, _whole, None)
    _Dumper.add_implicit_resolver(_tag, _whole, None)


def load(text: str) -> dict[str, Any]:
    """Parse front matter. Raises Unreadable."""
    try:
        loaded = yaml.load(text, _Loader)  # noqa: S506  # a SafeLoader that knows fewer types
        plain = json.loads(json.dumps(loaded, allow_nan=False, ensure_ascii=False).encode())
    except yaml.MarkedYAMLError as error:
        raise Unreadable(_reason(error)) from None
    except (yaml.YAMLError, *_ODD):
        raise Unreadable(ODD) from None
    if not isinstance(plain, dict):
        raise Unreadable("it must be a map, such as `name: review`")
    if problem := unstorable(plain):
        raise Unreadable(f"it {problem}")
    return plain


def dump(front_matter: dict[str, Any]) -> str:
    """Write front matter so that `load` returns the same."""
    return _serialized(_represented(front_matter))


def updated(text: str, front_matter: dict[str, Any]) -> str:
    """Write front matter like `dump`, with the values that `text` already has as it writes them."""
    before, node = load(text), yaml.compose(text, _Loader)
    if node is not None:
        written = _serialized(_merged(node, before, front_matter))
        if load(written) == front_matter:
            return written
    return dump(front_matter)


def _merged(node: yaml.Node, former: Any, value: Any) -> yaml.Node:
    if former == value:
        return node
    if not isinstance(node, yaml.MappingNode) or not isinstance(value, dict):
        return _represented(value)
    known = {key.value: (key, inner) for key, inner in node.value}
    pairs = []
    for name, inner in value.items():
        if name in known and name in former:
            key, before = known[name]
            pairs.append((key, _merged(before, former[name], inner)))
        else:
            pairs.append((_represented(name), _represented(inner)))
    return yaml.MappingNode(node.tag, pairs, flow_style=node.flow_style)


def _represented(value: Any) -> yaml.Node:
    return _Dumper(io.StringIO(), sort_keys=False).represent_data(value)


def _serialized(node: yaml.Node) -> str:
    text: str = yaml.serialize(node, Dumper=_Dumper, allow_unicode=True, width=100)
    return text


def _reason(error: yaml.MarkedYAMLError) -> str:
    place = f"line {_line_of(error.problem_mark)}: " if error.problem_mark else ""
    return f"{place}{error.problem or 'it is not YAML'}"


def _line_of(mark: yaml.Mark) -> int:
    """Return the line within the SKILL.md, whose first line is ---."""
    return mark.line + 2
