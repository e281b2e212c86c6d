"""The patterns that ship: files in order, and each error finds its own."""

import re
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import labelled
from benchmarks.labelled import Labelled
from tests.troubleshoot.words_alone import WordsAlone
from troubleshoot import knowledge, placeholders, signatures, symptoms

LEAST_PATTERNS, LEAST_LABELLED = 250, 120
LEAST_FIRST, LEAST_IN_THREE = 0.88, 0.96
LEAST_FIRST_OF_ONE_WORDING, LEAST_IN_THREE_OF_ONE_WORDING = 0.93, 0.97
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


@pytest.fixture(scope="module")
def texts(index: WordsAlone) -> labelled.Texts:
    patterns = index.patterns.values()
    return labelled.Texts(text for one in patterns for text in (one.title, one.cause, *one.errors))


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

    assert share_right(ranked, within=1) >= LEAST_FIRST_OF_ONE_WORDING
    assert share_right(ranked, within=3) >= LEAST_IN_THREE_OF_ONE_WORDING


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


def test_labelled_errors_share_no_sentence_with_the_patterns(texts: labelled.Texts) -> None:
    """Whatever the names in it."""
    shared = {case.error for case in labelled.cases() if texts.sharing(case.error)}

    assert shared == set()


def test_each_error_of_one_wording_shares_a_sentence_with_a_pattern(texts: labelled.Texts) -> None:
    alone = {case.error for case in labelled.same_wordings() if not texts.sharing(case.error)}

    assert alone == set()


@pytest.mark.parametrize(
    ("error", "example"),
    [
        ("[build] FATAL:  password rejected for user 'ann'", "password rejected for user 'bob'"),
        ("2026-02-11 web_1 | disk sda1 is nearly full", "disk /dev/sdb is nearly full"),
        ("the pool of workers is empty", "Oops. The pool of workers is empty. Restart."),
    ],
)
def test_a_sentence_is_shared_whatever_its_prefix_and_names(error: str, example: str) -> None:
    assert labelled.shared(error, example)


def test_a_sentence_is_shared_if_one_text_goes_on_and_the_other_starts_before() -> None:
    error = "the pool of workers is empty (queue a), so that tasks wait for long"
    example = "After the restart the pool of workers is empty"

    assert labelled.shared(error, example) == {"the pool of workers is empty"}


def test_a_dotted_type_before_a_sentence_hides_none_of_it() -> None:
    error = "the pool of workers is empty (queue a)"
    example = "acme.pool.Error: the pool of workers is empty"

    assert labelled.shared(error, example) == {"the pool of workers is empty"}


@pytest.mark.parametrize(
    ("error", "example"),
    [
        ("No artifact was found for name: web-dist", "No artifact was found for name: dist"),
        ("worker billing has lost its lease", "worker app has lost its lease"),
        ("CONFLICT (content): both sides changed in a.py", "CONFLICT (rename): both sides changed"),
        ("a proxy of CartService refused the call", "a proxy of UserService refused the call"),
    ],
)
def test_a_sentence_is_shared_whatever_its_bare_names(error: str, example: str) -> None:
    assert labelled.shared(error, example)


def test_the_prefix_of_a_logger_hides_no_word() -> None:
    error = "ERROR:root:found character '\\t' that cannot start any token"
    example = "found character '@' that cannot start any token"

    assert labelled.shared(error, example) == {"found character # that cannot start any token"}


def test_a_sentence_in_quotes_is_no_name() -> None:
    error = '{"level":"error","msg":"the pool of workers is empty"}'

    assert labelled.shared(error, "the pool of workers is empty")


@pytest.mark.parametrize(
    ("error", "example"),
    [
        ("Build failed", "Build failed"),
        ("the pool of workers is empty", "the pool of threads has been closed"),
        ("Disk quota exceeded", "Disk quota exceeded"),
        ("at Cart.total (cart.js:7)", "at Cart.total (cart.js:7)"),
    ],
)
def test_few_equal_words_are_no_shared_sentence(error: str, example: str) -> None:
    assert labelled.shared(error, example) == set()


@given(st.lists(st.sampled_from(["disk", "of", "user", "is", "full", "#"]), max_size=9))
def test_the_index_finds_what_a_comparison_with_each_text_finds(words: list[str]) -> None:
    error, examples = " ".join(words), ["disk of user is full", "disk disk disk disk user disk"]

    assert labelled.Texts(examples).sharing(error) == labelled.sharing(error, sorted(examples))
