import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextd.search import passages
from contextd.search.embedding import tokenizer

words = st.sampled_from(["deploy", "x", "a.b(c)", "構築", "naïve", "\n", "\n\n", " ", ". ", "\t"])
texts = st.lists(words, max_size=900).map(" ".join)


def wordlist(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_a_short_text_is_one_passage() -> None:
    cut = passages.cut("Deploy failed", "The port was taken.\nWe moved to 8081.\n")

    assert cut.headline == "Deploy failed"
    assert cut.passages == [
        passages.PassageDraft("The port was taken.\nWe moved to 8081.", first_line=1, last_line=2)
    ]


def test_nothing_is_no_passage() -> None:
    assert passages.cut(" ", "\n\n") == passages.CutText("", [], 0)


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_no_passage_is_longer_than_the_model_reads_and_no_word_is_lost(
    headline: str, body: str
) -> None:
    cut = passages.cut(headline, body)
    read = [passages.under(cut.headline, passage.text) for passage in cut.passages]

    assert all(len(tokenizer.spans(text)) <= passages.MAX_TOKENS for text in read)
    assert wordlist(f"{headline} {body}") == wordlist(" ".join(read))


@settings(max_examples=60, deadline=None)
@given(texts)
def test_a_passage_stands_on_the_lines_that_it_says(body: str) -> None:
    lines = body.split("\n")
    for passage in passages.cut("A headline", body).passages:
        told = "\n".join(lines[passage.first_line - 1 : passage.last_line])
        assert passage.text in told


def test_a_long_text_is_cut_at_lines_and_its_passages_overlap() -> None:
    body = "\n".join(f"Line {number} of the log says nothing new." for number in range(1, 200))
    first, second, *_ = passages.cut("Log", body).passages

    assert first.text.endswith("nothing new.")
    assert second.text.startswith("Line")
    assert second.first_line <= first.last_line < second.last_line


def test_a_headline_too_long_to_repeat_is_searchable_to_its_end() -> None:
    headline = "word " * 300 + "needle"
    cut = passages.cut(headline, "body")

    assert len(tokenizer.spans(cut.headline)) <= passages.HEADLINE_TOKENS
    assert any("needle" in passage.text for passage in cut.passages)
    assert cut.passages[-1].text.endswith("body")
    assert cut.passages[-1].last_line == 1


@pytest.mark.parametrize("text", ["x" * 50_000, "構" * 3000, "0123456789abcdef" * 500])
def test_text_without_blanks_is_cut_too(text: str) -> None:
    found = passages.cut("", text).passages

    assert max(len(passage.text) for passage in found) <= passages.MAX_CHARACTERS
    assert sum(len(passage.text) for passage in found) >= len(text)


def test_the_token_count_is_that_of_the_whole_text() -> None:
    assert passages.cut("Hello, world", "tokenization").token_count == 3 + 2
    assert passages.cut("", "word " * 5000).token_count == 5000
