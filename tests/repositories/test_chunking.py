"""Files are cut where their own structure has borders."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextd import syntax
from repositories import chunking, languages
from repositories.chunking import ROOM, CutFile

LONG_METHOD = "\n".join(
    f"        if value == {n}:\n            return 'number {n}'" for n in range(60)
)
CODE = f'''"""A module."""

import os

LIMIT = 3


class Shop:
    """Sells."""

    def small(self):
        return 1

    # Says which.
    @property
    def long(self, value):
{LONG_METHOD}


def after():
    return os
'''


def cut(text: str, language: str = "python") -> CutFile:
    return chunking.cut(text, language)


def test_what_is_defined_is_known_by_its_qualified_name() -> None:
    assert cut(CODE).symbols == ["Shop", "Shop.small", "Shop.long", "after", "LIMIT"]


def test_every_name_of_a_long_file_is_known() -> None:
    text = "".join(f"def step_{n}(): ...\n" for n in range(5000))

    assert cut(text).symbols[-1] == "step_4999"


def test_a_long_function_is_split_between_its_statements() -> None:
    chunks = [chunk for chunk in cut(CODE).chunks if chunk.symbols == ("Shop.long",)]

    assert len(chunks) > 2
    assert all(len(chunk.text) <= ROOM + 1 for chunk in chunks)
    assert all(chunk.text.startswith("        if value") for chunk in chunks[1:])


def test_comments_and_decorators_stay_with_what_they_are_about() -> None:
    first = next(chunk for chunk in cut(CODE).chunks if "Shop.long" in chunk.symbols)

    assert first.text.startswith("    # Says which.\n    @property\n    def long")


def test_small_neighbours_share_a_chunk_and_tell_all_their_names() -> None:
    chunk = next(chunk for chunk in cut(CODE).chunks if "Shop.small" in chunk.symbols)

    assert chunk.symbols == ("Shop", "Shop.small")


@pytest.mark.parametrize(
    ("name", "text", "symbols"),
    [
        (
            "a.ts",
            "export const f = (a: number) => a\nexport class A<T> {\n  go(): void {\n  }\n}\n",
            ["f", "A", "A.go"],
        ),
        ("a.go", "type S struct {\n}\nfunc (s *S) Run() error {\n}\n", ["S", "S.Run"]),
        ("a.rs", "impl A {\n    fn new() -> A {\n    }\n}\n", ["A", "A.new"]),
        ("a.c", "static int *find(struct p *x)\n{\n}\n", ["find"]),
        (
            "a.cpp",
            "namespace n {\ntemplate <class T> class V {\n int n() { return 1; }\n};\n}\n",
            ["n", "n.V", "n.V.n"],
        ),
        ("A.java", "class A {\n  int go() {\n    return 1;\n  }\n}\n", ["A", "A.go"]),
        ("a.cs", "class A {\n  void Go() {\n  }\n}\n", ["A", "A.Go"]),
        ("a.rb", "module A\n  class B\n    def go\n    end\n  end\nend\n", ["A", "A.B", "A.B.go"]),
        ("a.php", "<?php\nclass A {\n  function go() {\n  }\n}\n", ["A", "A.go"]),
        ("a.kt", "class A {\n  fun go() {\n  }\n}\n", ["A", "A.go"]),
        ("a.swift", "class A {\n  func go() {\n  }\n}\n", ["A", "A.go"]),
        ("a.scala", "object A {\n  def go() = {\n  }\n}\n", ["A", "A.go"]),
        (
            "a.js",
            "exports.baz = function () {\n  return 1\n}\nexports.LIMIT = 3\n"
            "Foo.prototype.bar = () => 1\nmodule.exports = {stop: function () {}, 'n': 4}\n"
            "function Cart() {\n  this.clear = function () {\n    a.b = 3\n  }\n}\n"
            "list['a b'] = function () {}\nmodule.exports = function main() {}\n",
            ["baz", "LIMIT", "Foo.bar", "stop", "Cart", "Cart.clear", "main"],
        ),
        ("a.ex", "defmodule A.B do\n  def go(x) do\n    x\n  end\nend\n", ["A.B", "A.B.go"]),
        ("a.lua", "function M.go()\n  return 1\nend\n", ["M.go"]),
        ("run", "#!/usr/bin/env bash\ngo() {\n  echo\n}\n", ["go"]),
        ("a.tf", 'resource "aws_instance" "web" {\n}\n', ["resource aws_instance web"]),
        (
            "a.vue",
            "<template>\n <b @click='add'>x</b>\n</template>\n"
            "<script setup lang='ts'>\nfunction addToCart(n: number) {\n  return n\n}\n</script>\n"
            "<style>b { color: red }</style>\n",
            ["addToCart"],
        ),
        ("a.svelte", "<script>\nlet total = 1\n</script>\n<p>{total}</p>\n", ["total"]),
        ("a.sql", "CREATE TABLE users (id int);\nCREATE VIEW v AS SELECT 1;\n", ["users", "v"]),
        ("a.proto", "message Foo {\n  string a = 1;\n}\n", ["Foo"]),
        (
            "A.elm",
            "type alias M = { n : Int }\n\ntype Msg\n    = Go\n\ngo : M -> M\ngo m =\n    m\n",
            ["M", "Msg", "go"],
        ),
        (
            "A.groovy",
            "@Slow\nclass A {\n  static List<String> go(int a) {\n    if (a) {\n    }\n  }\n}\n",
            ["A", "A.go"],
        ),
        ("build.gradle", "task go(type: Copy) {\n  from 'a'\n}\n", ["go"]),
        (
            "a.jl",
            "module A\nmutable struct B <: C\n n\nend\nfunction go!(b=f(1))\n n = b\nend\n"
            "Base.length(b::B) = 3\nlimit = f(3)\nend\n",
            ["A", "A.B", "A.go!", "A.Base.length"],
        ),
        (
            "a.ml",
            "type 'a tree = Leaf\nlet limit = 3\nlet rec go x =\n  x\nand on = fun y -> y\n"
            "module M = struct\n  let f ~a = a\nend\n",
            ["tree", "go", "on", "M", "M.f"],
        ),
        ("a.mli", "type t\nval go : t -> int\n", ["t", "go"]),
        (
            "a.pas",
            "unit U;\ninterface\ntype\n  TA = class\n    procedure Go;\n  end;\nimplementation\n"
            "procedure TA.Go;\n  procedure On;\n  begin\n  end;\nbegin\nend;\nend.\n",
            ["TA", "TA.Go", "TA.Go.On"],
        ),
        (
            "a.R",
            "limit <- 3\ngo <- function(x) {\n  x\n}\n`%+%` = \\(a, b) a\n"
            'setMethod("show", "A", function(object) {\n})\nlapply(x, function(i) i)\n',
            ["go", "%+%", "show"],
        ),
        (
            "a.zig",
            "const limit = 3;\npub const A = struct {\n    pub fn go() void {\n    }\n};\n"
            'test "it goes" {\n}\n',
            ["A", "A.go", "it goes"],
        ),
    ],
)
def test_languages_are_known_by_name_or_first_line(
    name: str, text: str, symbols: list[str]
) -> None:
    assert chunking.cut(text, languages.language_of(name, text)).symbols == symbols


@pytest.mark.parametrize(
    "text",
    [
        "# Shop\n\nHello.\n\n## Use\n\n```sh\n# no heading\n```\n\nHello.\n## More\n\nBye.\n",
        "Shop\n====\n\nHello.\n\nUse\n---\n\n# no heading\n\nHello.\nMore\n----\n\nBye.\n",
    ],
)
def test_texts_are_cut_at_their_headings(text: str) -> None:
    text = text.replace("Hello.\n", "Hello.\n" * 90).replace("Bye.\n", "Bye.\n" * 150)
    language = "markdown" if text.startswith("#") else "rst"

    names = [chunk.symbols for chunk in cut(text, language).chunks]

    assert names == [("Shop",), ("Shop > Use",), ("Shop > More",)]


def test_what_has_no_structure_is_one_piece_for_the_engine_to_cut() -> None:
    assert [chunk.text for chunk in cut("a: 1\nb: 2\n", "yaml").chunks] == ["a: 1\nb: 2\n"]


@pytest.mark.parametrize("language", sorted(languages.KNOWN))
def test_the_grammar_of_each_known_language_is_installed(language: str) -> None:
    assert cut("a b c\n", language).chunks


def test_what_takes_too_long_to_parse_is_cut_by_its_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(syntax, "root_of", partial(syntax.root_of, seconds=0))

    whole = cut(CODE * 10)

    assert (whole.symbols, whole.is_complete) == ([], False)
    assert_whole(CODE * 10, "python")


def test_code_that_is_nested_without_end_is_cut_all_the_same() -> None:
    text = "\n".join("function f() {" for _ in range(3000)) + "}\n" * 3000

    assert_whole(text, "javascript")


SOURCES = sorted(Path(__file__).parents[2].glob("*/*.py"))[::20]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_each_line_of_real_code_is_in_one_chunk(path: Path) -> None:
    assert_whole(path.read_text(encoding="utf-8"), "python")


LINES = st.sampled_from(
    [
        "def f():",
        "    return 1",
        "class A:",
        "    def g(self):",
        "",
        "# x",
        "if a:",
        "  ) {",
        "@d",
        "x" * 500,
    ]
)


@given(st.lists(LINES, max_size=60), st.sampled_from(["python", "javascript", "c", "markdown"]))
def test_each_line_of_any_text_is_in_one_chunk(lines: list[str], language: str) -> None:
    assert_whole("\n".join(lines), language)


def assert_whole(text: str, language: str) -> None:
    lines = text.split("\n")
    seen: list[int] = []
    for chunk in cut(text, language).chunks:
        numbers = range(chunk.first_line, chunk.last_line + 1)
        assert chunk.text == "\n".join(lines[n - 1] for n in numbers)
        seen += numbers
    assert sorted(set(seen)) == seen
    assert {n for n in range(1, len(lines) + 1) if lines[n - 1].strip()} <= set(seen)
