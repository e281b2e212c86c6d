"""Patterns are read by address, listed, completed, and who reads one is told when it changes."""

import pytest
from django.test import Client

from contextd import completions, pipeline, resources
from contextd.callers import Caller
from contextd.errors import NotFound
from contextd.resources import Contents, Listing
from tests.conftest import Call
from tests.troubleshoot.conftest import DISK_FULL, Know
from troubleshoot.models import Pattern

Known = dict[str, Pattern]
ADDRESS = "pattern://disk-full"

PAGE = f"""\
# disk-full: The file system has no free blocks

storage, severity high; linux

Only in: linux >=2.6

**Cause:** Every block of the file system is taken.

## Errors

    {DISK_FULL}

    cp: error writing 'dump.sql': No space left on device

## Confirm

Expect: Use% is 100 (this alone does not prove the cause)

    df -h FILE

## Fix

See what takes the room

    du -sh /var/lib/*

**Destructive, ask the person first.** Delete the old logs

    rm -rf /var/log/shop/old

## Not to be confused with

pattern://inodes-gone: df -i shows IUse% 100, df -h does not

## References

https://example.com/disks
"""


def read(uri: str, caller: Caller) -> Contents:
    found = pipeline.call_operation(resources.at(uri).reading, {"uri": uri}, caller)
    assert isinstance(found, Contents)
    return found


def addresses(caller: Caller) -> list[str]:
    listing = resources.at(ADDRESS).listing
    assert listing is not None
    found = pipeline.call_operation(listing, {}, caller)
    assert isinstance(found, Listing)
    return [one.uri for one in found.resources]


def test_a_pattern_is_read_whole(know: Know, caller: Caller) -> None:
    check = {"run": "df -h {file}", "expect": "Use% is 100", "conclusive": False}
    know(
        "disk-full",
        confirm=[check],
        versions={"linux": ">=2.6"},
        references=["https://example.com/disks"],
    )

    found = read(ADDRESS, caller)

    assert (found.mime_type, found.text) == ("text/markdown", PAGE)


def test_what_a_pattern_does_not_say_has_no_section(know: Know, caller: Caller) -> None:
    know("module-missing")

    text = read("pattern://module-missing", caller).text

    assert "## Fix" in text
    assert "Only in" not in text
    assert "confused" not in text
    assert "References" not in text


def test_only_published_patterns_are_read_listed_and_completed(
    know: Know, known: Known, caller: Caller
) -> None:
    know("disk-full-draft", is_draft=True)
    Pattern.objects.filter(key="module-missing").update(worked=3)

    assert addresses(caller) == [
        "pattern://module-missing",
        ADDRESS,
        "pattern://inodes-gone",
    ]
    assert completions.complete(caller, "pattern_id", "disk").values == ["disk-full"]
    with pytest.raises(NotFound, match="no pattern 'disk-full-draft'; list_patterns shows all"):
        read("pattern://disk-full-draft", caller)


def test_who_reads_one_is_told_when_it_is_written(know: Know, told: list[str | None]) -> None:
    know("disk-full")

    assert told == [None, ADDRESS]


def test_who_reads_one_is_told_when_it_is_deleted(
    known: Known, admin_client: Client, told: list[str | None]
) -> None:
    told.clear()

    pk = known["disk-full"].pk
    admin_client.post(f"/admin/troubleshoot/pattern/{pk}/delete/", {"post": "yes"})

    assert not Pattern.objects.filter(pk=pk).exists()
    assert told == [None, ADDRESS]


def test_a_saved_pattern_can_be_read_by_the_id_that_is_listed(
    known: Known, call: Call, caller: Caller
) -> None:
    for pattern in call("list_patterns").patterns:
        assert pattern.root_cause in read(f"pattern://{pattern.id}", caller).text
