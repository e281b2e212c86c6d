"""YAML files that people write; every complaint names its file and line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from yaml.constructor import SafeConstructor
from yaml.reader import ReaderError

Place = tuple[str | int, ...]
"""A place in a file: keys and indexes, from the outside in."""

MAX_DEPTH = 100
MAX_NODES = 100_000

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Faulty(Exception):
    """A file cannot be used; the complaints are everything that was found, not only the first."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = list(complaints)


@dataclass(frozen=True, slots=True)
class YamlFile:
    name: str
    content: Any
    root: yaml.Node | None

    def line_of(self, place: Place) -> int:
        """Return the line of the innermost part of the place that exists."""
        node = self.root
        line = _line(node)
        for step in place:
            key, node = _within(node, step)
            if node is None:
                break
            line = _line(key or node)
        return line

    def complaint(self, reason: str, place: Place = ()) -> Complaint:
        return Complaint(self.name, self.line_of(place), reason)

    def parse(self, model: type[M], place: Place = ()) -> M:
        """Return the content at the place as an instance of the model. Raise Faulty."""
        found = self.content
        for step in place:
            found = found[step]
        try:
            return model.model_validate(found)
        except ValidationError as error:
            raise Faulty(
                [
                    self.complaint(_reason(problem), (*place, *problem["loc"]))
                    for problem in error.errors(include_url=False)
                ]
            ) from None


def within(folder: Path) -> tuple[list[Path], list[Complaint]]:
    """Return the YAML files of a folder and its sub-folders, and complaints about skipped files."""
    others = [path for path in folder.rglob("*") if path.suffix.lower() in {".yml", ".yaml"}]
    paths = sorted(path for path in others if path.suffix == ".yaml")
    reason = "it is ignored: its name must end in .yaml"
    misnamed = [
        Complaint(str(path.relative_to(folder)), 1, reason)
        for path in others
        if path.suffix != ".yaml"
    ]
    return paths, misnamed


def read(path: Path, name: str | None = None) -> YamlFile:
    """Read a file; `name` is how complaints refer to it. Raise Faulty unless it is YAML."""
    return parse(path.read_bytes(), name or str(path))


def dump(content: Any) -> str:
    """Return YAML as a person would write it: keys in order, long texts as blocks."""
    return yaml.dump(content, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=100)


def parse(text: str | bytes, name: str) -> YamlFile:
    """Parse text that is not in a file. Raise Faulty unless it is YAML."""
    root = compose(text, name)
    repeated = [Complaint(name, _line(key), _repeated(key)) for key in _repeated_keys(root)]
    if repeated:
        raise Faulty(list(dict.fromkeys(repeated)))
    try:
        content = _Values().construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        raise Faulty([_complaint(name, error)]) from None
    return YamlFile(name, content, root)


def compose(text: str | bytes, name: str) -> yaml.Node | None:
    """Return its nodes without their values. Raise Faulty unless it is YAML."""
    try:
        loader = yaml.CSafeLoader(text)
        try:
            root: yaml.Node | None = loader.get_single_node()
        finally:
            loader.dispose()
        for number, node in enumerate(_nodes(root)):
            _check(node, number)
    except ReaderError as error:
        before = (text if isinstance(text, bytes) else text.encode())[: error.position]
        raise Faulty([Complaint(name, before.count(b"\n") + 1, error.reason)]) from None
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        raise Faulty([Complaint(name, line, "half a character is not allowed")]) from None
    except yaml.MarkedYAMLError as error:
        raise Faulty([_complaint(name, error)]) from None
    return root


def _complaint(name: str, error: yaml.MarkedYAMLError) -> Complaint:
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    return Complaint(name, line, error.problem or str(error))


def _nodes(node: yaml.Node | None, depth: int = 0) -> Iterator[yaml.Node]:
    """Yield each node as often as aliases repeat it, as a reader of the content meets it."""
    if node is None:
        return
    if depth > MAX_DEPTH:
        raise _error(node, "it is nested too deeply, or contains itself")
    yield node
    if isinstance(node, yaml.CollectionNode):
        for inner in node.value:
            for one in inner if isinstance(inner, tuple) else [inner]:
                yield from _nodes(one, depth + 1)


def _check(node: yaml.Node, number: int) -> None:
    if number > MAX_NODES:
        raise _error(node, "it is too large once its aliases are expanded")
    if isinstance(node, yaml.ScalarNode) and "\0" in node.value:
        raise _error(node, "a NUL character is not allowed")


def _error(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


class _Values(SafeConstructor):
    """Reports the place of values that only look like their type, such as 2024-02-30."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, LookupError, AttributeError) as error:
            kind = node.tag.rpartition(":")[2]
            raise _error(node, f"{str(node.value)[:100]} is not a valid {kind}") from error


class _Readable(yaml.SafeDumper):
    pass


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Readable.add_representer(str, _text)


def _line(node: yaml.Node | None) -> int:
    return node.start_mark.line + 1 if node else 1


def _within(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the key and the value one step further in."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def _repeated_keys(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield keys given twice: YAML readers silently keep the last one."""
    for node in _nodes(root):
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    yield key
                seen.add(str(key.value))


def _repeated(key: yaml.Node) -> str:
    return f"{key.value} is given twice"


def _reason(problem: ErrorDetails) -> str:
    field = ".".join(map(str, problem["loc"])) or "the file"
    match problem["type"]:
        case "missing":
            return f"{field} is required"
        case "extra_forbidden":
            return f"{field} is not a known field"
        case _:
            message = problem["msg"].removeprefix("Value error, ")
            return f"{field}: {message[:1].lower()}{message[1:]}"
