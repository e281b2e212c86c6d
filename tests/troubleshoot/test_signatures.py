"""Signatures are found fast and exactly, and none can hold up a diagnosis."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshoot import knowledge, signatures

TEXT = "app-1 | npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.test/left-pad"


@pytest.fixture(scope="module")
def recognised() -> Callable[[str], set[str]]:
    """Find the shipped patterns of which an error has a signature."""
    entries = [written.entry for written in knowledge.read().patterns]
    known = signatures.compiled({n: entry.signatures for n, entry in enumerate(entries)})
    return lambda error: {entries[n].id for n in signatures.found_in([error], known)}


@pytest.mark.parametrize(
    "error",
    [
        "Error: Missing required password (set DB_PASSWORD)",
        "java.io.IOException: Missing keystore password",
        "ValidationError: Incorrect current password",
        "mysqld: Missing root password",
        "user ann does not have shop.change_order permission",
        "User 7 does not have reports.export access",
        "No more resources are remaining in the pool",
        "2 finalizers remaining in the queue of the garbage collector",
        "TypeError: unsupported operand type(s) for |: 'NoneType' and 'int'",
    ],
)
def test_an_error_of_another_program_has_no_signature(
    recognised: Callable[[str], set[str]], error: str
) -> None:
    assert recognised(error) == set()


@pytest.mark.parametrize(
    ("error", "key"),
    [
        ('fatal: [db1]: FAILED! => {"msg": "Missing become password"}', "ansible-become-failed"),
        ('fatal: [db1]: FAILED! => {"msg": "Incorrect su password"}', "ansible-become-failed"),
        ("db1 | FAILED | rc=-1 >>\nIncorrect sudo password", "ansible-become-failed"),
        (
            "ci@shop.iam.gserviceaccount.com does not have storage.buckets.get access to the "
            "Google Cloud Storage bucket.",
            "gcloud-permission-denied",
        ),
        (
            "403 Access Denied: User does not have bigquery.jobs.create permission in project "
            "shop-dwh.",
            "gcloud-permission-denied",
        ),
        (
            "Some content in the namespace has finalizers remaining: a.example/b in 2 resource "
            "instances",
            "kubernetes-stuck-terminating",
        ),
        (
            "Some resources are remaining: widgets.example.com has 3 resource instances",
            "kubernetes-stuck-terminating",
        ),
        (
            "TypeError: unsupported operand type(s) for |: 'type' and 'types.GenericAlias'",
            "python-older-interpreter",
        ),
        (
            "TypeError: unsupported operand type(s) for |: 'types.GenericAlias' and 'NoneType'",
            "python-older-interpreter",
        ),
        (
            "remote: error: GH013: Repository rule violations found for refs/heads/rotate-secret.\n"
            "remote: - Changes must be made through a pull request.",
            "git-protected-branch",
        ),
        (
            "remote: error: GH013: Repository rule violations found for refs/heads/main.\n"
            "remote: - Commits must have verified signatures.\n"
            "The job masks its secrets.",
            "git-protected-branch",
        ),
    ],
)
def test_other_wordings_of_the_same_error_have_its_signature(
    recognised: Callable[[str], set[str]], error: str, key: str
) -> None:
    assert key in recognised(error)


def test_a_push_with_a_secret_is_not_one_to_a_protected_branch(
    recognised: Callable[[str], set[str]],
) -> None:
    error = (
        "remote: error: GH013: Repository rule violations found for refs/heads/main.\n"
        "remote: - Push cannot contain secrets"
    )

    assert recognised(error) == {"git-secret-push-protection"}


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        ("No space left", "No space left"),
        (r"code E\d+ at node", " at node"),
        (r"Blocked\. This host", "Blocked. This host"),
        (r"colou?r is wrong", "r is wrong"),
        (r"a|bcd", ""),
        (r"x(?:one|two)yz", "yz"),
        (r"(?i)no SPACE", ""),
        (r"ab{2}cdef", "cdef"),
        (r"[abc]def(?!ghij)", "def"),
    ],
)
def test_what_an_expression_needs_is_read_out_of_it(expression: str, needed: str) -> None:
    assert signatures.needed_by(expression) == needed


def test_the_longest_part_that_fits_is_told() -> None:
    known = signatures.compiled({1: ["E404", r"code E\d+"], 2: ["E500"]})

    assert signatures.found_in([TEXT], known) == {1: "code E404"}


@pytest.mark.parametrize("place", [0, 49_000])
def test_both_ends_of_a_long_text_are_searched(place: int) -> None:
    text = "-" * place + "code E404" + "-" * (50_000 - place)

    assert signatures.found_in([text], signatures.compiled({1: [r"code E\d+"]})) == {1: "code E404"}


def test_what_is_broken_is_left_out() -> None:
    assert signatures.compiled({1: ["(x", "y"]})[0].needed == "y"


def test_one_that_cannot_be_searched_for_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "MAX_SEARCH_SECONDS", 0.05)
    known = signatures.compiled({1: [r"(?:a+)+(?:a+)+(?:a+)+\d$"], 2: ["aaa"]})

    assert signatures.found_in(["a" * 5_000 + "!"], known) == {2: "aaa"}


@given(st.sampled_from(["a", "b.c", r"x\.y", "(p|q)r", "no?t", "k{2}", "[mn]o"]), st.text())
def test_what_an_expression_needs_is_in_all_it_fits(expression: str, text: str) -> None:
    signature = signatures.compiled({1: [expression]})[0]

    if signature.expression.search(text):
        assert signature.needed in text
