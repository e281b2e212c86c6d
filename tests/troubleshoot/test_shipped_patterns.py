"""The patterns that ship: files in order, and each error finds its own."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml
from django.conf import settings

from tests.troubleshoot.words_alone import WordsAlone
from troubleshoot import knowledge, placeholders, signatures, symptoms

LABELLED = settings.BASE_DIR / "tests/troubleshoot/labelled.yaml"
LEAST_PATTERNS, LEAST_LABELLED = 250, 120
LEAST_FIRST, LEAST_IN_THREE = 0.93, 0.97
A_FEW_WORDS = 4
FAR_REACHING = re.compile(
    r"\b(kubectl|helm|aws|az|gcloud|terraform|psql|createdb|mysql|sqlite3|mongosh|redis-cli|rabbitmqctl"
    r"|systemctl|chown|curl -X)\b"
)
EXAMPLE_NAMES = re.compile(
    r"(?<![\w.-])(?<!az ad )(acme|shop|api|app|web|orders|users|accounts|prod|alice|jane"
    r"|deploy|worker|sg-0abc|i-0abc|\w+@example\.com|(\w+\.)+example\.com)(?![\w-]|=|\":|\.(kubernetes|md))"
)
"""Names that the examples of many patterns have."""


@pytest.fixture(scope="module")
def index() -> WordsAlone:
    return WordsAlone.of_shipped()


@cache
def labelled() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = yaml.safe_load(LABELLED.read_text(encoding="utf-8"))
    return cases


def test_the_files_are_right_and_enough() -> None:
    found = knowledge.read()

    assert found.complaints == []
    assert len(found.patterns) >= LEAST_PATTERNS


def test_what_tells_a_rival_speaks_of_the_rival_alone() -> None:
    """It is put as a question, and yes counts for the rival."""
    tells = [
        one.tell for written in knowledge.read().patterns for one in written.entry.confused_with
    ]

    assert [tell for tell in tells if re.search(r"\bhere\b", tell)] == []


def test_what_destroys_or_reaches_far_names_nothing_of_an_example() -> None:
    """Also names that have no usual form in an error, such as that of a deployment."""
    named = {
        (written.entry.id, number): found[0]
        for written in knowledge.read().patterns
        for number, step in enumerate(written.entry.fix)
        if step.destructive or FAR_REACHING.search(step.run)
        if (found := EXAMPLE_NAMES.search(placeholders.fill(step.run, {})))
    }

    assert named == {}


def test_each_error_finds_its_own_pattern_without_being_in_the_index(index: WordsAlone) -> None:
    """Nor any other example of its pattern: title, cause and signatures must do."""
    misled = {
        (pattern.key, number): first
        for pattern in index.patterns.values()
        for number, error in enumerate(pattern.errors)
        if (first := index.ranked(error, without_examples_of=pattern.pk)[:1]) != [pattern.key]
    }

    assert misled == {}


def test_labelled_errors_are_explained(index: WordsAlone) -> None:
    """By words and signatures alone; docs/benchmarks.md has the figures with meaning."""
    known = [case for case in labelled() if case["expect"]]
    ranked = [(set(case["expect"]), index.ranked(case["error"])) for case in known]

    assert len(known) >= LEAST_LABELLED
    assert sum(bool(right & set(keys[:1])) for right, keys in ranked) / len(known) >= LEAST_FIRST
    assert sum(bool(right & set(keys[:3])) for right, keys in ranked) / len(known) >= LEAST_IN_THREE


@pytest.mark.parametrize(
    "line",
    [
        *("Error", "ERROR", "error: failed", "Build failed", "CI failed", "an error occurred"),
        *("Unknown error", "fatal error", "Exception", "panic", "Warning", "KeyError"),
        *("ValueError", "TypeError", "RuntimeError", "java.lang.IllegalStateException"),
        *("exit code 1", "Error: Process completed with exit code 1.", "exit status 2"),
        *("script failed", "npm error", "make: *** [all] Error 2", "Something went wrong"),
    ],
)
def test_a_line_that_says_only_that_something_failed_has_no_information(
    index: WordsAlone, line: str
) -> None:
    """Its words count nothing, so that no pattern without a signature is called the cause."""
    words = symptoms.read(line, facts={}, tags=()).informative_words
    said = max(index.vocabulary.information(words, passage.text) for passage in index.passages)

    assert said == 0
    assert signatures.found_in([line], index.signatures) == {}


def test_words_of_few_patterns_say_much(index: WordsAlone) -> None:
    """All words of a passage are in it, and words of all patterns say nothing."""
    vocabulary = index.vocabulary

    assert vocabulary.information(["refspec", "unstaged", "rebase"], "refspec unstaged rebase") == 1
    assert vocabulary.information(["file"], "file") < 0.2
    assert vocabulary.information(["refspec"], "something else") == 0


def test_labelled_errors_share_no_line_with_the_patterns() -> None:
    patterns = {line for written in knowledge.read().patterns for line in lines_of(written.entry)}

    shared = {line for case in labelled() for line in lines_in(case["error"])} & patterns

    assert shared == set()


def lines_of(entry: knowledge.Entry) -> Iterator[str]:
    for text in (*entry.errors, entry.title, entry.cause):
        yield from lines_in(text)


def lines_in(text: str) -> Iterator[str]:
    """Those of more than a few words: every traceback has the same short ones."""
    for line in text.splitlines():
        if len(re.findall(r"\w+", line)) >= A_FEW_WORDS:
            yield line.strip()
