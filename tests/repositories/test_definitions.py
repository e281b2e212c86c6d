"""Definitions are found in the languages of all grammars that have any."""

import time
import typing
from pathlib import Path

import pytest
import tree_sitter_language_pack
import yaml

from repositories import chunking, definitions, headings, languages
from tests.conftest import Call
from tests.repositories.conftest import Folder, Index
from tests.repositories.test_chunking import assert_whole

SAMPLES = yaml.safe_load(Path(__file__).with_name("definitions.yaml").read_text("utf-8"))
OF_OTHERS = {"terraform": "hcl"}
"""Languages whose files are indexed as another's."""

EVERY = 9


def test_each_grammar_finds_definitions_or_is_listed_as_having_none() -> None:
    grammars = set(typing.get_args(tree_sitter_language_pack.SupportedLanguage))
    with_names = definitions.LANGUAGES | chunking.COMPONENTS | headings.LANGUAGES

    assert with_names | definitions.WITHOUT_DEFINITIONS == grammars
    assert not with_names & definitions.WITHOUT_DEFINITIONS


def test_files_of_each_language_with_definitions_are_detected() -> None:
    assert definitions.LANGUAGES - set(languages.KNOWN) == set(OF_OTHERS)


@pytest.mark.parametrize("language", SAMPLES)
def test_definitions_are_found_by_name(language: str) -> None:
    sample = SAMPLES[language]

    detected = languages.language_of(sample["path"], sample["text"])

    assert detected == OF_OTHERS.get(language, language)
    assert chunking.cut(sample["text"], language).symbols == sample["symbols"]


@pytest.mark.parametrize("language", SAMPLES)
def test_code_that_ends_anywhere_is_cut_completely(language: str) -> None:
    text = SAMPLES[language]["text"]

    for end in range(1, len(text), EVERY):
        assert_whole(text[:end], language)


@pytest.mark.parametrize("language", SAMPLES)
def test_other_text_is_cut_completely(language: str) -> None:
    for text in ("a b c", "é\u2028中 (", "\x00", "{[(<'\"`", "*/ }}) end", "\t\n \r\n"):
        assert_whole(text, language)


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.m", "% A function.\nfunction y = f(x)\ny = x;\nend\n", "matlab"),
        ("a.m", "#import <A.h>\n@implementation A\n@end\n", "objc"),
        ("a.v", "module counter(input clk);\nendmodule\n", "verilog"),
        ("a.v", "module main\n\nfn go() {\n}\n", "v"),
        ("a.v", "Require Import List.\nTheorem t : True.\n", "text"),
        ("a.cls", "\\NeedsTeXFormat{LaTeX2e}\n", "latex"),
        ("a.cls", "public class A {\n}\n", "apex"),
        ("a.pp", "unit Cart;\ninterface\n", "pascal"),
        ("a.pp", "class cart {\n}\n", "puppet"),
        ("a.pl", "% Family.\nparent(a, b).\nold(X) :- parent(X, _).\n", "text"),
        ("a.pl", "use strict;\nsub go { 1 }\n", "perl"),
        ("a.scm", "(call function: (identifier) @function)\n", "query"),
        ("a.scm", "(define (go x) x)\n", "scheme"),
        ("a.fs", "#version 330\nvoid main() {}\n", "glsl"),
        ("a.cl", "__kernel void go() {}\n", "c"),
        ("a.cl", "(defun go () 1)\n", "commonlisp"),
        ("a.h", "@interface A : NSObject\n@end\n", "objc"),
        ("a.h", "int go(void);\n", "cpp"),
        ("a.ts", '<?xml version="1.0"?>\n<TS></TS>\n', "xml"),
        ("a.bb", "(println 1)\n", "clojure"),
        ("a.rules", "groups:\n- name: shop\n", "text"),
        ("pkg/BUILD", "py_library(name = 'a')\n", "starlark"),
        ("drivers/Kconfig.debug", "config A\n", "kconfig"),
        ("src/meson.build", "project('a')\n", "meson"),
        ("run", "#!/usr/bin/env fish\n", "fish"),
    ],
)
def test_a_suffix_of_several_languages_is_decided_by_content(
    path: str, text: str, language: str
) -> None:
    assert languages.language_of(path, text) == language


@pytest.mark.parametrize("language", ["asm", "cobol", "dockerfile"])
def test_what_follows_a_label_belongs_to_it(language: str) -> None:
    text = SAMPLES[language]["text"]
    body = text.rstrip().rpartition("\n")[2]

    chunks = chunking.cut(text.replace(body, f"{body}\n" * 80), language).chunks

    assert chunks[-1].symbols == (SAMPLES[language]["symbols"][-1],)


def test_the_body_of_a_method_in_dart_belongs_to_it() -> None:
    statements = "    print('A line that is repeated.');\n" * 80
    method = f"  void build(Context context) {{\n{statements}  }}\n\n"
    text = f"class Cart {{\n{method}  int size() => 1;\n}}\n"

    chunks = chunking.cut(text, "dart").chunks

    assert [chunk.symbols for chunk in chunks[1:-1]] == [("Cart.build",)] * (len(chunks) - 2)
    assert chunks[-1].symbols == ("Cart.size", "Cart")


@pytest.mark.parametrize(
    ("language", "first", "line", "second"),
    [
        ("perl", "package A;", "go();", "package B;"),
        ("perl", "package A;", "go();", "package B { go(); }"),
        ("php", "<?php namespace A;", "go();", "namespace B;"),
        ("csharp", "namespace A;", "class C { }", ""),
        ("haskell", "module A where", "c = 1", ""),
        ("erlang", "-module(A).", "-compile(c).", ""),
    ],
)
def test_what_follows_a_package_without_a_body_belongs_to_it(
    language: str, first: str, line: str, second: str
) -> None:
    text = f"{first}\n" + f"{line}\n" * 300 + f"{second}\n"

    chunks = chunking.cut(text, language).chunks

    owned = [
        chunk for chunk in chunks if line in chunk.text and second not in chunk.text.split("\n")
    ]
    assert len(owned) > 2
    assert all(chunk.symbols[0].startswith("A") for chunk in owned)
    assert not second or chunks[-1].symbols[-1] == "B"


def test_latex_is_cut_at_its_sections_and_its_commands_are_known() -> None:
    text = SAMPLES["latex"]["text"].replace("Hello.\n", "Hello.\n" * 150)

    cut = chunking.cut(text, "latex")

    assert ("Introduction",) in {chunk.symbols for chunk in cut.chunks}
    assert cut.symbols == ["shop"]


FOUND = {
    "add-item": "cart.scm",
    "Stacks.Is_Empty": "stack.adb",
    "counter.show": "counter.sv",
    "shop_macro": "rules.bzl",
    "$pair": "add.wat",
    "cart#add": "plugin/cart.vim",
    "Chart.star": "Chart.v",
}


def test_exact_names_in_these_languages_come_first(clone: Folder, index: Index, call: Call) -> None:
    files = {sample["path"]: sample["text"] for sample in SAMPLES.values()}
    uses = "".join(f"{name} {name} {name}\n" for name in FOUND)
    clone.write({path: files[path] for path in FOUND.values() if path in files})
    clone.write({"uses.txt": uses, "Chart.v": "fn (c Chart) star() {\n}\n"})
    index(clone)

    for query, path in FOUND.items():
        best = call("repository_search", query=query, top_k=1).results[0]
        assert (query, best.path, best.exact) == (query, path, True)


def test_time_grows_with_the_number_of_fields() -> None:
    text = "class A {\n" + "".join(f"  int field{n};\n" for n in range(8000)) + "}\n"
    started = time.process_time()

    assert chunking.cut(text, "java").symbols == ["A"]
    assert time.process_time() - started < 10
