"""The patterns that ship: files in order, and each error finds its own."""

import re
from collections.abc import Collection

import pytest

from benchmarks import labelled
from benchmarks.labelled import Labelled
from tests.troubleshoot.words_alone import WordsAlone
from troubleshoot import knowledge, placeholders, signatures, symptoms

LEAST_PATTERNS, LEAST_LABELLED = 250, 120
LEAST_FIRST, LEAST_IN_THREE = 0.93, 0.97
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
        for others in [index.without({pattern.pk: pattern.errors})]
        for number, error in enumerate(pattern.errors)
        if (first := others.ranked(error)[:1]) != [pattern.key]
    }

    assert misled == {}


def test_labelled_errors_are_explained(index: WordsAlone) -> None:
    """By words and signatures alone; docs/benchmarks.md has the figures with meaning."""
    known = [case for case in labelled.cases() if case.expected]
    ranked = [(case.expected, index.ranked(case.error)) for case in known]

    assert len(known) >= LEAST_LABELLED
    assert share_right(ranked, within=1) >= LEAST_FIRST
    assert share_right(ranked, within=3) >= LEAST_IN_THREE


def test_errors_of_one_wording_are_explained_without_the_examples_that_share_it(
    index: WordsAlone,
) -> None:
    ranked = [
        (case.expected, index.without(sharing(index, case)).ranked(case.error))
        for case in labelled.same_wordings()
    ]

    assert share_right(ranked, within=1) >= LEAST_FIRST
    assert share_right(ranked, within=3) >= LEAST_IN_THREE


def share_right(ranked: Collection[tuple[frozenset[str], list[str]]], within: int) -> float:
    return sum(bool(right & {*keys[:within]}) for right, keys in ranked) / len(ranked)


def sharing(index: WordsAlone, case: Labelled) -> dict[int, list[str]]:
    expected = [pattern for pattern in index.patterns.values() if pattern.key in case.expected]
    return {pattern.pk: labelled.sharing(case.error, pattern.errors) for pattern in expected}


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


def test_labelled_errors_expect_patterns_that_ship(index: WordsAlone) -> None:
    known = {pattern.key for pattern in index.patterns.values()}
    cases = [*labelled.cases(), *labelled.same_wordings()]

    assert {key for case in cases for key in case.expected} - known == set()


def test_labelled_errors_share_no_sentence_with_the_patterns(index: WordsAlone) -> None:
    """Whatever the names in it."""
    shared = {case.error for case in labelled.cases() if labelled.sharing(case.error, texts(index))}

    assert shared == set()


def test_each_error_of_one_wording_shares_a_sentence_with_an_example(index: WordsAlone) -> None:
    alone = {
        case.error
        for case in labelled.same_wordings()
        if not labelled.sharing(case.error, examples(index))
    }

    assert alone == set()


@pytest.mark.parametrize(
    ("error", "example", "is_shared"),
    [
        (
            "[build] FATAL:  password rejected for user 'ann'",
            "password rejected for user 'bob'",
            True,
        ),
        ("2026-02-11 web_1 | disk sda1 is nearly full", "disk /dev/sdb is nearly full", True),
        ("the pool of workers is empty", "Oops. The pool of workers is empty. Restart.", True),
        ("Build failed", "Build failed", False),
        ("the pool of workers is empty", "the pool of workers is full", False),
    ],
)
def test_a_sentence_is_shared_whatever_its_prefix_and_names(
    error: str, example: str, *, is_shared: bool
) -> None:
    assert bool(labelled.shared(error, example)) == is_shared


def texts(index: WordsAlone) -> list[str]:
    prose = [text for one in index.patterns.values() for text in (one.title, one.cause)]
    return [*prose, *examples(index)]


def examples(index: WordsAlone) -> list[str]:
    return [error for pattern in index.patterns.values() for error in pattern.errors]
