"""Generate many errors from few: the same errors in other programs, places and machines."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.fixes import Fix

_NAME = re.compile(
    r"(?<![\w.$])(?=\w*[a-z])(?:[a-z]+(?:_[a-z0-9]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+)\b"
)
_IS_TYPE = re.compile(r"(?:Error|Exception|Warning|Failure|Interrupt)$")
_FOLDER = re.compile(r"(?<![\w.:/])/(?:[\w.@+-]+/)+")
_NUMBER = re.compile(r"(?<!\w)\d{2,6}(?!\w)")  # includes parts of addresses and versions
FOLDERS = ["/srv/app/", "/home/ann/work/", "/opt/service/", "/Users/bob/src/", "/builds/ci/"]
RENAMED = 4


@dataclass(frozen=True)
class Source:
    """The source errors; `names` are the identifiers in all of them."""

    fixes: Sequence[Fix]
    names: Sequence[str]


def source_of(fixes: Sequence[Fix]) -> Source:
    found = {name for fix in fixes for name in names_in(f"{fix.error_message} {fix.solution}")}
    return Source(fixes, sorted(found))


def names_in(text: str) -> list[str]:
    """Return distinct identifiers of several words that are not types of errors."""
    return [name for name in dict.fromkeys(_NAME.findall(text)) if not _IS_TYPE.search(name)]


def renamed(source: Source, fix: Fix, seed: str) -> Fix:
    """Return the error in another program, with other names of functions and variables."""
    choose = random.Random(f"{seed} {fix.name}")  # noqa: S311
    stack_trace = fix.stack_trace or _stack(source, choose, fix.error_message)
    told = f"{fix.error_message}\n{stack_trace}"
    names = {name: choose.choice(source.names) for name in names_in(told)[:RENAMED]}
    return _changed(
        replace(fix, stack_trace=stack_trace),
        lambda text: _NAME.sub(lambda name: names.get(name[0], name[0]), text),
    )


def _stack(source: Source, choose: random.Random, error_message: str) -> str:
    frames = [
        f'  File "/srv/app/{choose.choice(source.names)}.py", line 10, in {name}'
        for name in choose.sample(source.names, 2)
    ]
    return "\n".join(["Traceback (most recent call last):", *frames, error_message])


def moved(fix: Fix, seed: str) -> Fix:
    """Return the error in another run, with other folders, numbers, addresses and versions."""
    choose = random.Random(f"{seed} {fix.name}")  # noqa: S311
    folder = choose.choice(FOLDERS)

    def number_like(number: re.Match[str]) -> str:
        digits = len(number[0])
        return str(choose.randint(10 ** (digits - 1), 10**digits - 1))

    def move(text: str) -> str:
        text = _FOLDER.sub(folder, text)
        return _NUMBER.sub(number_like, text)

    return replace(_changed(fix, move), solution=fix.solution)


def _changed(fix: Fix, change: Callable[[str], str]) -> Fix:
    return replace(
        fix,
        error_message=change(fix.error_message),
        stack_trace=change(fix.stack_trace),
        solution=change(fix.solution),
    )


def many(source: Source, programs: int, projects: Sequence[int]) -> Iterator[Fix]:
    """Vary each error over programs and projects, each in a separate run."""
    for program in range(programs):
        for fix in source.fixes:
            theirs = renamed(source, fix, f"program {program}")
            for project in projects:
                yield replace(moved(theirs, f"{program} in {project}"), project=project)
