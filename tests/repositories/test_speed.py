"""A file is split in time that grows with its length, whatever is in it."""

import re
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest

from benchmarks.parsing import best_time
from repositories import chunking, grammar, headings, heads, rules

LENGTH = 20_000  # enough to see how the time grows
HEAD_LENGTH = 90  # a head that tries everything twice takes seconds for it, one of 400 for ever
HEAD_SECONDS = 0.02

# What is repeated stands between the other two.
HEADED = [
    ("# a", " ", "b"), ("# a ", "#", "b"), ("# a", " #", "b"), ("", "# a\n", ""),
    ("", "a\n=\n", ""), ("", "#", " a"), ("", " ", "x"), ("", "=", "x"), ("", "- ", "x"),
    ("", "`", "x`"), ("```\n", "a\n", ""), ("", "~~~\n", ""), ("---\n", "a\n", ""), ("", ">", "a"),
    ("", "-\n", ""), ("", "1.", "x"), ("* a", " ", "b"), ("= a", " ", "b"), ("", "* a\n", ""),
    ("", "*", " a"), ("a\n", "=", "x"), ("\\section[", "a", "]"), ("\\section{", "a", ""),
    ("", "\\section{a}\n", ""),
]  # fmt: skip
COMPONENTS = [
    ("", "<script>", ""), ("", "<script ", ""), ("", "<script>a</script", ""),
    ("<script>", "a;\n", ""), ("<script>a</script", " ", "x"), ("", "</script>", ""),
    ("", "<script>a</script>", ""), ("", "<", ""), ("---", "\n", ""), ("---\n", "a\n", "---"),
    ("", "\n", "---"), ("", "---\n", ""),
]  # fmt: skip
CODE = [
    ("markdown", "# a\n", "b\n", ""), ("markdown", "", "# a\n", ""), ("rst", "", "a\n===\n", ""),
    ("python", "x = ", "(", "1"),
    ("python", "class A:\n", " a1=1\n", ""), ("python", "class A:\n", " A = 1\n", ""),
    ("java", "class A {", "int a = 1;", "}"), ("java", "class A {\n", " final int a = 1;\n", "}"),
    ("csharp", "class A {\n", " int a = 1;\n", "}"),
    ("typescript", "class A {\n", " a = 1;\n", "}"), ("typescript", "class A {", "a() {}", "}"),
    ("kotlin", "class A {\n", " val a = 1\n", "}"),
    ("php", "<?php class A {\n", " public $a = 1;\n", "}"),
    ("swift", "class A {\n", " let a = 1\n", "}"), ("javascript", "", "function a(){}", ""),
    ("javascript", "x = ", "[{a:", "1"), ("javascript", "", "exports.a = ", "1"),
    ("javascript", "", "a.", "b = () => 1"), ("javascript", "x = '", "a", "'"),
    ("javascript", "", "(", ""), ("javascript", "", "export const a = 1;", ""),
    ("hcl", "", "a {\n", ""), ("hcl", 'a "', "b", '" {\n}\n'),
    ("terraform", "", 'a "b" {\n}\n', ""), ("c", "int ", "*", "a;"), ("c", "int a", "[1]", ";"),
    ("c", "", "int a;", ""), ("cpp", "", "namespace a { ", ""), ("go", "func (", "a", ") b() {}"),
    ("go", "package a\n", "func (a *B) c() {}\n", ""), ("rust", "", "mod a { ", ""),
    ("ruby", "", "class A\n", ""), ("elixir", "", "def a(b) do\n", ""),
    ("clojure", "", "(def ^{a} ", ""), ("clojure", "(def ", "^{a} ", ")"),
    ("ocaml", "", "let a b = ", ""), ("bash", "", "a=1;", ""),
    ("sql", "", "create table a (b int);", ""), ("scss", "", "a { ", ""), ("asm", "", "a:\n", ""),
    ("make", "", "a: b\n", ""), ("nix", "{ ", "a = { ", "}"), ("lua", "a = ", "{", ""),
    ("dart", "class A {\n", " int a() => 1;\n", "}"),
    ("haskell", "module A where\n", "a = 1\n", ""),
    ("perl", "", "package A;\n", ""), ("perl", "package A;\n", "sub a { 1 }\n", ""),
    ("php", "<?php\n", "namespace A;\n", ""), ("graphql", "", "scalar A\n", ""),
    ("sql", "", "create procedure a() as b;\n", ""), ("groovy", "", "A(int b) { }\n", ""),
    ("powershell", "class A {\n", " [int] B() { }\n", "}"), ("erlang", "", "a() -> b.\n", ""),
    ("verilog", "typedef struct { ", "int a; ", "} b;"), ("c", "typedef int ", "(", "a);"),
]  # fmt: skip


@pytest.mark.parametrize("language", sorted(headings.LANGUAGES))
def test_no_text_with_headings_takes_long(language: str) -> None:
    def outline(text: str) -> object:
        return headings.outline(text.split("\n"), language)

    assert not slow(outline, HEADED)


@pytest.mark.parametrize("language", sorted(chunking.COMPONENTS))
def test_no_component_takes_long(language: str) -> None:
    assert not slow(partial(chunking.cut, language=language), COMPONENTS)


@pytest.mark.parametrize("language", sorted({language for language, *_ in CODE}))
def test_no_code_takes_long(language: str) -> None:
    texts = [(before, piece, after) for name, before, piece, after in CODE if name == language]

    assert not slow(partial(chunking.cut, language=language), texts)


Text = tuple[str, str, str]


def slow(function: Callable[[str], object], texts: list[Text]) -> list[Text]:
    suspected = [text for text in texts if grows_too_fast(function, *text)]
    return [text for text in suspected if grows_too_fast(function, *text)]


def grows_too_fast(function: Callable[[str], object], before: str, piece: str, after: str) -> bool:
    whole, quarter = (
        best_time(function, before + (piece * length)[:length] + after, rounds=2)
        for length in (LENGTH, LENGTH // 4)
    )

    # Sixteen times would be quadratic; the constant is for what is too quick to be measured.
    return whole > 8 * quarter + 0.020


PIECES = [
    *("a", " ", "\n", "a ", "a.", "a::", "(", "(a) ", "((", "^{a} ", "^a ", "@a ", "@a() "),
    *("[<>] ", "{a}", "{ ", "<a>", "-a ", "--a ", "'a ", "a=", "a,", "a/", "\\a", " --a", "_a "),
    "static ",
]  # fmt: skip


@pytest.mark.parametrize("language", sorted(heads.LANGUAGES))
def test_no_head_takes_long(language: str) -> None:
    texts = (
        (head, f"{begin}{piece * HEAD_LENGTH}"[:HEAD_LENGTH])
        for _, head in heads._HEADS[language]
        for word in {"", *re.findall(r"[a-z_]{3,}", head.pattern)}
        for begin in (f"{word} ", f"({word} ")
        for piece in PIECES
    )

    slow = (text for head, text in texts if best_time(head.match, text, 1) > HEAD_SECONDS)
    assert next(slow, None) is None


@pytest.mark.parametrize("piece", ["~", ".1", ".old.1", "a/", "a."])
def test_no_path_takes_long(piece: str) -> None:
    assert not slow(rules.is_secret, [("", piece, "x")])


def test_a_long_heading_is_not_repeated_in_full_below_it() -> None:
    text = f"# {'a' * 100_000}\n" + "## b\n" * 1000

    whole = headings.outline(text.split("\n"), "markdown").whole
    assert max(map(len, whole.names())) <= headings.MAX_PATH_CHARACTERS


def test_the_deepest_headings_are_outlined() -> None:
    text = "\n".join(f"{'*' * level} a" for level in range(1, 1000))

    assert len(chunking.cut(text, "org").chunks) > 100


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c", f"int {'*' * 5000}a;\n"),
        ("c", f"int a{'[1]' * 5000};\n"),
        ("python", f"{'(' * 2000}a,{')' * 2000} = 1\n"),
        ("cpp", "namespace a { " * 2000 + "}" * 2000),
        ("javascript", "function a() { " * 2000 + "}" * 2000),
    ],
)
def test_what_is_nested_very_deeply_is_split(language: str, text: str) -> None:
    assert chunking.cut(text, language).chunks


def test_a_walk_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "MAX_SECONDS", 0)

    found = chunking.cut("def a():\n    pass\n" * 1000, "python")
    assert found.symbols == []
    assert found.chunks[-1].last_line == 2000
    assert not found.is_complete


def test_other_work_of_the_machine_takes_no_time_from_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hours = count(step=3600)
    monkeypatch.setattr("time.monotonic", lambda: next(hours))

    found = chunking.cut("def a():\n    pass\n" * 1000, "python")

    assert (found.symbols, found.is_complete) == (["a"], True)
