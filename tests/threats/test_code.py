"""The Python code that threats show is real: each example has tests, which its secure code passes.

The tests of an example fail with its vulnerable code.
"""

import itertools
from collections.abc import Iterator
from types import ModuleType

import pytest

from threats import briefing, knowledge
from threats.schema import CodeExample, ThreatPattern

SHIPPED = [
    (f"{mitigation.id}-{number}", file.pattern, example)
    for file in knowledge.read(knowledge.FOLDER)[0]
    for mitigation in file.pattern.mitigations
    for number, example in enumerate(mitigation.code_examples)
]
PYTHON = {name: example for name, _, example in SHIPPED if example.language == "python"}
NUMBERS = itertools.count()


def failures(example: CodeExample, code: str) -> Iterator[str]:
    """Which of the tests fail with the code; what the code itself raises is raised."""
    module = ModuleType(f"example_{next(NUMBERS)}")  # Celery wants the names of tasks to differ
    for text in (example.setup_code or "", code, example.test_code or ""):
        exec(text, module.__dict__)  # noqa: S102  (written by us, and that is what is tested)
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    assert tests, "it has no tests"
    for name, test in tests.items():
        try:
            test()
        except BaseException as error:  # some code under test is meant to run for ever
            yield f"{name}: {error!r}"


@pytest.mark.parametrize("example", PYTHON.values(), ids=PYTHON)
def test_secure_code_passes(example: CodeExample) -> None:
    assert list(failures(example, example.secure_code)) == []


@pytest.mark.parametrize("example", PYTHON.values(), ids=PYTHON)
def test_vulnerable_code_fails(example: CodeExample) -> None:
    assert list(failures(example, example.vulnerable_code))


def is_shown(pattern: ThreatPattern, example: CodeExample) -> bool:
    """Whether the threat and this code fit into an answer of `tmkb_query`."""
    mitigation = pattern.mitigations[0].model_copy(update={"code_examples": [example]})
    shortened = pattern.model_copy(update={"mitigations": [mitigation]})
    answer = briefing.brief([shortened], language=None, frameworks=[], notice=None)
    return answer.code_pattern is not None


def test_all_secure_code_fits_beside_its_threat() -> None:
    assert [name for name, pattern, code in SHIPPED if not is_shown(pattern, code)] == []
