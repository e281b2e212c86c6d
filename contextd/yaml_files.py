"""YAML files that people write, read so that every complaint names its file and line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]
"""Where in a file: keys and numbers, from the outside in."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Faulty(Exception):
    """A file cannot be used; the complaints are all that was found, not the first alone."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = list(complaints)


@dataclass(frozen=True, slots=True)
class YamlFile:
    name: str
    content: Any
    root: yaml.Node | None

    def line_of(self, place: Place) -> int:
        """Of the innermost part of the place that is there."""
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
        """What stands at the place, as an instance of the model; raises Faulty."""
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


def read(path: Path, name: str | None = None) -> YamlFile:
    """`name` is what complaints call the file; raises Faulty where it is not YAML."""
    name = name or str(path)
    loader = yaml.CSafeLoader(path.read_bytes())
    try:
        root = loader.get_single_node()
        content = loader.construct_document(root) if root else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise Faulty([Complaint(name, mark.line + 1 if mark else 1, reason)]) from None
    finally:
        loader.dispose()
    file = YamlFile(name, content, root)
    if repeated := [Complaint(name, _line(key), _repeated(key)) for key in _repeated_keys(root)]:
        raise Faulty(repeated)
    return file


def _line(node: yaml.Node | None) -> int:
    return node.start_mark.line + 1 if node else 1


def _within(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The key and the value at one step further in."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def _repeated_keys(node: yaml.Node | None) -> Iterator[yaml.Node]:
    """YAML readers keep the last one silently."""
    if isinstance(node, yaml.SequenceNode):
        for inner in node.value:
            yield from _repeated_keys(inner)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key
            seen.add(key.value)
            yield from _repeated_keys(value)


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
