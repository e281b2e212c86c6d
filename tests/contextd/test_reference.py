"""The page about operations says what callers may send and what they get."""

import re
from collections import Counter

import pytest

from contextd import operations, reference


@pytest.fixture(scope="module")
def page() -> str:
    return reference.operations_page()


def section(page: str, heading: str) -> str:
    return re.split(r"^#+ ", page.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]


@pytest.mark.parametrize(
    ("operation", "row"),
    [
        ("checkpoint_save", "| `tags` | list of at most 20 strings of at most 50 characters |"),
        ("checkpoint_save", "| `summary` | string of at most 500 characters | required |"),
        ("checkpoint_save", "| `context` | object of at most 50 keys |"),
        (
            "checkpoint_update",
            "| `tags` | list of at most 20 strings of at most 50 characters or null",
        ),
        (
            "threats_for_files",
            "| `paths` | list of at most 500 strings of at most 4,096 characters |",
        ),
        (
            "threat_checklist",
            "| `areas` | list of at most 20 strings of at most 1,000 characters |",
        ),
        ("remediation_update", '`critical` or `""` or null |'),
        ("checkpoint_list", "| `sort_by` | `created_at`, `updated_at` | `created_at` |"),
        ("checkpoint_search", "| `results` | list of [`CheckpointMatch`](#checkpointmatch) |"),
        ("status", "| `services` | object of [`ServiceStatus`](#servicestatus) |"),
        ("index_cancel", "Answer: [`RepositoryIndexed`](#repositoryindexed)"),
        ("RepositoryStatus", "| `skipped` | object of integers | Skipped files by reason |"),
    ],
)
def test_types_are_named_with_their_limits(page: str, operation: str, row: str) -> None:
    assert row in section(page, operation)


def test_everything_that_is_linked_is_described_once(page: str) -> None:
    headings = Counter(name.lower() for name in re.findall(r"^#+ (.+)$", page, re.MULTILINE))
    linked = set(re.findall(r"\]\(#([^)]+)\)", page))

    assert linked <= set(headings)
    assert set(headings.values()) == {1}


def test_a_record_that_extends_another_lists_only_its_own_fields(page: str) -> None:
    match, indexed = section(page, "CheckpointMatch"), section(page, "RepositoryIndexed")

    assert "The fields of [`CheckpointDetail`](#checkpointdetail), and:" in match
    assert re.findall(r"^\| `(\w+)`", match, re.MULTILINE) == ["kind", "score", "distance"]
    assert indexed.strip() == "The fields of [`RepositoryStatus`](#repositorystatus)"


def test_one_name_means_one_record() -> None:
    kinds: dict[str, object] = {}
    for operation in operations.installed():
        answer = operation.result.model_json_schema(mode="serialization")
        for name, record in answer.get("$defs", {}).items():
            assert kinds.setdefault(name, record) == record, name


def test_the_purpose_is_a_whole_sentence(page: str) -> None:
    purposes = re.findall(r"^\| \[`\w+`\].* \| (.+) \|$", page, re.MULTILINE)

    assert len(purposes) == len(operations.installed())
    assert all(re.fullmatch(r"[A-Z].*\.", purpose) for purpose in purposes)


def test_what_every_answer_may_have_is_described_once(page: str) -> None:
    assert "| `notice` |" not in page
    assert "| `redacted` |" not in page
    assert page.count("`notice`") == page.count("`redacted`") == 1
