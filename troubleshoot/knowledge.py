"""Read files of patterns and report every mistake in them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import regex
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, AnyUrl, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from contextd import expressions, yaml_files
from contextd.yaml_files import Complaint, Faulty, Place, YamlFile
from troubleshoot import commands, placeholders

FOLDER = Path(__file__).resolve().parent / "knowledge"

CategoryName = Literal[
    "configuration",
    "resource",
    "dependency",
    "permission",
    "logic",
    "network",
    "storage",
    "security",
    "concurrency",
    "build",
    "data",
    "general",
]
SeverityName = Literal["low", "medium", "high", "critical"]

Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=5, max_length=200)]
Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5_000)]
Script = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)]
Printed = Annotated[
    str,
    StringConstraints(pattern=r"\S", max_length=10_000),
    AfterValidator(lambda printed: printed.rstrip("\n")),
]
Regex = Annotated[str, StringConstraints(min_length=1, max_length=500)]


def _range(written: str) -> str:
    try:
        SpecifierSet(written)
    except InvalidSpecifier:
        raise PydanticCustomError("range", "must be versions such as >=3.12 or >=9,<16") from None
    return written


Product = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9.+]*$", max_length=50)]
Versions = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_range)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Check(Part):
    """Something to look at, and what is seen when the cause is this one.

    It is not conclusive if it gives the same on every machine, such as `rustc --explain E0308`.
    """

    run: Annotated[Script, Field(min_length=1)]
    expect: Prose
    conclusive: bool = True


class Step(Part):
    """A part of the fix; `run` is a command, or code to change."""

    do: Prose
    run: Script = ""
    destructive: bool = False


class Rival(Part):
    """Another pattern with nearly the same output, and what distinguishes it from this one."""

    id: Key
    tell: Prose


class Entry(Part):
    """One pattern, as it is written in a file."""

    id: Key
    title: Line
    category: CategoryName
    severity: SeverityName
    technologies: Annotated[list[Word], Field(min_length=1, max_length=20)]
    versions: Annotated[dict[Product, Versions], Field(max_length=10)] = {}
    errors: Annotated[list[Printed], Field(min_length=2, max_length=50)]
    signatures: Annotated[list[Regex], Field(max_length=20)] = []
    cause: Prose
    confirm: Annotated[list[Check], Field(min_length=1, max_length=20)]
    fix: Annotated[list[Step], Field(min_length=1, max_length=20)]
    confused_with: Annotated[list[Rival], Field(max_length=20)] = []
    tags: Annotated[list[Word], Field(max_length=20)] = []
    references: Annotated[list[AnyUrl], Field(max_length=20)] = []


@dataclass(frozen=True, slots=True)
class Written:
    """An entry and the file it stands in, with its number there."""

    entry: Entry
    file: YamlFile
    number: int

    def complaint(self, reason: str, *place: str | int) -> Complaint:
        return self.file.complaint(reason, (self.number, *place))

    @property
    def where(self) -> str:
        return f"{self.file.name}:{self.file.line_of((self.number, 'id'))}"


@dataclass(frozen=True, slots=True)
class Knowledge:
    patterns: list[Written]
    complaints: list[Complaint]


def read(folder: Path = FOLDER) -> Knowledge:
    """Return all valid patterns of a folder, and all mistakes in its files."""
    patterns: list[Written] = []
    is_shipped = folder.resolve() == FOLDER
    shipped = frozenset[str]() if is_shipped else _shipped_ids()
    known = set(shipped)
    paths, complaints = yaml_files.within(folder)
    for path in paths:
        try:
            file = yaml_files.read(path, str(path.relative_to(folder)))
            known |= _ids_in(file)
            _read_file(file, patterns, complaints)
        except Faulty as faulty:
            complaints += faulty.complaints
    complaints += [wrong for written in patterns for wrong in _within(written)]
    complaints += [*_duplicate_ids(patterns, shipped), *_unknown_rivals(patterns, known)]
    if is_shipped:
        complaints += _incomplete(patterns)
    return Knowledge(patterns, sorted(set(complaints)))


@cache
def _shipped_ids() -> frozenset[str]:
    files = [yaml_files.read(path) for path in yaml_files.within(FOLDER)[0]]
    return frozenset[str]().union(*map(_ids_in, files))


def _ids_in(file: YamlFile) -> set[str]:
    """Return the ids of all patterns, including invalid ones."""
    entries = file.content if isinstance(file.content, list) else []
    return {str(entry.get("id")) for entry in entries if isinstance(entry, dict)}


def _read_file(file: YamlFile, patterns: list[Written], complaints: list[Complaint]) -> None:
    if not isinstance(file.content, list):
        complaints.append(file.complaint("a file of patterns is a list of them"))
        return
    for number in range(len(file.content)):
        try:
            patterns.append(Written(file.parse(Entry, (number,)), file, number))
        except Faulty as faulty:
            complaints += faulty.complaints


def _within(written: Written) -> Iterator[Complaint]:
    """Find mistakes in a pattern that matches the schema."""
    for place, reason in problems_of(written.entry):
        yield written.complaint(f"{'.'.join(map(str, place))} {reason}", *place)


def problems_of(entry: Entry) -> list[tuple[Place, str]]:
    """Return the place and reason of all that is wrong with it, although its form is right."""
    return [*of_signatures(entry), *of_commands(entry), *of_values(entry)]


def of_signatures(entry: Entry) -> Iterator[tuple[Place, str]]:
    """Find signatures that cannot be used, or match none of its own errors."""
    for number, signature in enumerate(entry.signatures):
        if problem := signature_problem(signature) or _misses(signature, entry.errors):
            yield ("signatures", number), problem


def signature_problem(signature: str) -> str | None:
    """Return what is wrong with a regular expression, if anything."""
    if mistake := expressions.mistake_in(signature):
        return mistake
    return "fits any text" if regex.search(signature, "") else None


def _misses(signature: str, errors: Iterable[str]) -> str | None:
    try:
        found = any(
            regex.search(signature, error, timeout=expressions.MATCH_SECONDS) for error in errors
        )
    except TimeoutError:
        return "takes too long to look for"
    return None if found else "is in none of the errors"


def of_commands(entry: Entry) -> Iterator[tuple[Place, str]]:
    """Find unmarked or too early destructive steps, and checks that change something."""
    may_be_safe = True
    for number, step in enumerate(entry.fix):
        lost = commands.dangers(placeholders.fill(step.run, {}))
        if lost and not step.destructive:
            yield ("fix", number), f"must say destructive: true, since {lost[0]}"
        if step.run and not step.destructive and not may_be_safe:
            yield ("fix", number), "is safe, so it must stand before what destroys"
        may_be_safe = may_be_safe and not step.destructive
    for number, check in enumerate(entry.confirm):
        if lost := commands.dangers(placeholders.fill(check.run, {})):
            yield ("confirm", number), f"must only look, but {lost[0]}"


def of_values(entry: Entry) -> Iterator[tuple[Place, str]]:
    """Find values of its own examples in what is run, and named groups that fill no placeholder.

    A value that the cause, the title, a technology or a signature names is the same in every case.
    """
    constant = [entry.title, entry.cause, *entry.technologies, *entry.signatures]
    constants = "\n".join(constant).replace("\\", "")
    found = [one for error in entry.errors for one in placeholders.found_in(error)]
    varying = {value: name for name, value in found if not _has_word(constants, value)}
    for place, run in _runs(entry):
        for value, name in varying.items():
            if _has_word(placeholders.fill(run, {}), value):
                reason = f"has {value!r} of its example: write {{{name}}}, or name it in the cause"
                yield place, reason
    for number, signature in enumerate(entry.signatures):
        for group in re.findall(r"\(\?P<(\w+)>", signature):
            if group not in placeholders.NAMES:
                yield ("signatures", number), f"names no placeholder that there is: {group}"


def _runs(entry: Entry) -> Iterator[tuple[Place, str]]:
    """Return what its checks and its fix run, or change, with the place of each."""
    for number, check in enumerate(entry.confirm):
        yield ("confirm", number), check.run
    for number, step in enumerate(entry.fix):
        yield ("fix", number), step.run


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _duplicate_ids(patterns: Iterable[Written], shipped: Set[str]) -> Iterator[Complaint]:
    first: dict[str, Written] = {}
    for written in patterns:
        key = written.entry.id
        if key in shipped:
            yield written.complaint(f"id {key} is already used by a shipped pattern", "id")
        if first.setdefault(key, written) is not written:
            yield written.complaint(f"id {key} is already used by {first[key].where}", "id")


def _unknown_rivals(patterns: Iterable[Written], known: Set[str]) -> Iterator[Complaint]:
    for written in patterns:
        for number, rival in enumerate(written.entry.confused_with):
            if rival.id not in known - {written.entry.id}:
                place = ("confused_with", number, "id")
                yield written.complaint(f"confused_with names no other pattern: {rival.id}", *place)


def _incomplete(patterns: Iterable[Written]) -> Iterator[Complaint]:
    """Find shipped patterns without a page to check what they say, or without a rival."""
    for written in patterns:
        if not written.entry.references:
            reason = "references is empty: add a page of the tool's official documentation"
            yield written.complaint(reason, "id")
        if not written.entry.confused_with:
            reason = "confused_with is empty: add a pattern with nearly the same output"
            yield written.complaint(reason, "id")


def words_of(title: str) -> list[str]:
    """Return the parts of a key that is derived from a title."""
    return re.findall(r"[a-z0-9]+", title.lower())


def sizes(patterns: Iterable[Written]) -> Counter[str]:
    """Return the number of patterns of each file."""
    return Counter(written.file.name for written in patterns)
