"""Whatever a skill says, its SKILL.md says the same."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills import documents, front_matter
from skills.wording import Wording, slug_of
from tests.skills.packages import document

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
FILLED = TEXT.filter(lambda text: bool(text.strip()))
LINE = FILLED.map(lambda text: " ".join(text.split())).filter(bool)
LONG = st.builds("{}{}".format, st.sampled_from(["word " * 204, "x" * 1020, " " * 1023]), FILLED)
DESCRIPTION = FILLED | LONG
SHORT = LINE.map(lambda text: text.lower()[:50].strip()).filter(bool)
LABEL = SHORT.map(lambda text: text.replace(",", "").strip()).filter(bool)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def wordings(draw: Any) -> Wording:
    name = draw(LINE)
    return Wording(
        name=name,
        slug=slug_of(name),
        description=draw(DESCRIPTION),
        content=draw(FILLED),
        version=draw(st.sampled_from(["1.0.0", "0.1.0-rc.1", "10.2.3+b.5"])),
        author=draw(LINE),
        category=draw(SHORT),
        prerequisites=draw(st.lists(LINE, max_size=3)),
        expected_outcome=draw(FILLED | st.just("")),
        tags=draw(st.lists(LABEL, max_size=3, unique=True)),
        metadata=draw(st.dictionaries(TEXT.map(lambda key: f"x-{key}"[:50]), TEXT, max_size=3)),
    )


@given(wordings())
@settings(max_examples=40, deadline=None)
def test_a_document_is_read_as_it_was_written(wording: Wording) -> None:
    written = documents.write(wording)
    read = documents.wording_of(documents.read(written))

    assert read.model_dump(exclude={"content"}) == wording.model_dump(exclude={"content"})
    assert read.content == f"{wording.content.removesuffix(chr(10))}\n"
    assert documents.rewritten(written, wording) == written


def test_line_ends_of_windows_stay() -> None:
    raw = document("one", license="MIT", version="1.0.0").replace(b"\n", b"\r\n")
    wording = documents.wording_of(documents.read(raw))

    in_a_browser = wording.model_copy(update={"content": "Do it\n"})
    assert documents.rewritten(raw, in_a_browser) == raw
    renamed = wording.model_copy(update={"category": "c", "content": "Do it\nwell"})
    written = documents.rewritten(raw, renamed)
    assert written.endswith(b"metadata:\r\n  category: c\r\n---\r\n\r\nDo it\r\nwell\r\n")
    assert written.count(b"\n") == written.count(b"\r\n")


@pytest.mark.parametrize(
    ("written", "read"),
    [("1.10", "1.10.0"), ("2", "2.0.0"), ("1.10.3", "1.10.3"), ("'3.20'", "3.20.0")],
)
def test_a_version_is_read_digit_by_digit(written: str, read: str) -> None:
    for place in (f"version: {written}", f"metadata:\n  version: {written}"):
        raw = f"---\nname: one\ndescription: d\n{place}\n---\nDo it\n".encode()
        wording = documents.wording_of(documents.read(raw))
        assert wording.version == read
        assert documents.rewritten(raw, wording) == raw
        changed = documents.rewritten(raw, wording.model_copy(update={"author": "Ann"}))
        assert documents.wording_of(documents.read(changed)).version == read


@given(wordings(), wordings())
@settings(max_examples=60, deadline=None)
def test_a_rewritten_document_says_the_new_and_keeps_the_rest(
    before: Wording, after: Wording
) -> None:
    raw = documents.write(before).replace(b"---\n", b"---\nlicense: MIT\n", 1)
    document = documents.read(documents.rewritten(raw, after))

    assert document.front_matter["license"] == "MIT"
    said = documents.wording_of(document)
    assert said.model_dump(exclude={"content"}) == after.model_dump(exclude={"content"})
    assert said.content.strip() == after.content.strip()
    assert not documents.problems_of(document, after.slug)


AUTHORED = b"""---
name: one
title: One
description: short
prerequisites: not read here
expected-outcome: nor this
tags: a, b
metadata:
  title: one
  description: A better one
---
Do it
"""


def test_what_an_author_wrote_elsewhere_does_not_hide_what_is_said_anew() -> None:
    before = documents.wording_of(documents.read(AUTHORED))
    changes = {
        "name": "two",
        "slug": "two",
        "description": "Another",
        "prerequisites": ["p"],
        "expected_outcome": "done",
        "tags": [],
    }
    after = before.model_copy(update=changes)
    document = documents.read(documents.rewritten(AUTHORED, after))

    assert (before.name, before.description, before.tags) == ("one", "A better one", ["a", "b"])
    said = documents.wording_of(document)
    assert said.model_dump(exclude={"content"}) == after.model_dump(exclude={"content"})
    assert document.front_matter["prerequisites"] == "not read here"


WRITTEN = b"""\xef\xbb\xbf---
name: one
description: >-
  What it does
metadata: {code: 0123, ver: 1.10, "quoted": 'yes', version: 1.0.0}   # a comment
list:
- 1.50
---

Do it
"""


def test_values_that_an_edit_leaves_alone_stay_as_they_are_written() -> None:
    before = documents.wording_of(documents.read(WRITTEN))
    after = before.model_copy(update={"version": "1.0.1"})

    assert documents.rewritten(WRITTEN, after).decode() == (
        "---\nname: one\ndescription: >-\n  What it does\n"
        "metadata: {code: 0123, ver: 1.10, \"quoted\": 'yes', version: 1.0.1}\n"
        "list:\n  - 1.50\n---\n\nDo it\n"
    )


def test_an_edit_of_the_content_leaves_everything_above_it_alone() -> None:
    before = documents.wording_of(documents.read(WRITTEN))
    after = before.model_copy(update={"content": "Do this"})

    assert documents.rewritten(WRITTEN, after) == WRITTEN.replace(b"Do it", b"Do this")


@given(st.dictionaries(TEXT, PLAIN, max_size=4), st.dictionaries(TEXT, PLAIN, max_size=4))
@settings(max_examples=80, deadline=None)
def test_updated_front_matter_is_read_as_it_was_written(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    text = front_matter.dump({**before, "both": before})
    mapping = {**after, "both": {**before, **after}}

    assert front_matter.load(front_matter.updated(text, mapping)) == mapping


@given(st.dictionaries(TEXT, PLAIN, max_size=4))
@settings(max_examples=80, deadline=None)
def test_front_matter_is_read_as_it_was_written(mapping: dict[str, Any]) -> None:
    assert front_matter.load(front_matter.dump(mapping)) == mapping


def test_the_spelling_of_a_nul_is_text() -> None:
    mapping = {"expected-outcome": r"matches [^\u0000]"}
    assert front_matter.load(front_matter.dump(mapping)) == mapping


def test_only_what_json_knows_is_more_than_text() -> None:
    loaded = front_matter.load(
        "a: 2026-01-31\nb: no\nc: 1_000\nd: 0x1f\ne: 1e3\nf: true\ng: ~\nh: .5\ni: 089\nj: 1:30"
    )

    assert loaded == {
        "a": "2026-01-31",
        "b": "no",
        "c": "1_000",
        "d": "0x1f",
        "e": 1000.0,
        "f": True,
        "g": None,
        "h": 0.5,
        "i": 89,
        "j": "1:30",
    }
