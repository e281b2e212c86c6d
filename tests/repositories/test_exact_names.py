"""What a query names exactly comes first, however it is written."""

import pytest

from repositories import asking, chunking, languages, names
from tests.conftest import Call
from tests.repositories.conftest import Folder, Index

FILES = {
    "setup.py": "setup()\n",
    "app/models.py": "class Book:\n    def cancel_it(self):\n        return 1\n",
    **{f"a{n:02}/setup.py": "setup()\n" for n in range(25)},
    **{f"pkg{n}/app/models.py": "class Page:\n    pass\n" for n in range(3)},
    ".gitlab-ci.yml": "job: 1\n",
    "docs/gitlab-ci.yml": "job: 2\n",
    ".pre-commit-config.yaml": "repos: []\n",
    ".env.example": "A=1\n",
    "LICENSE": "Free to use.\n",
    "docs/My File.md": "# Mine\n",
    "app/(shop)/page.tsx": "go()\n",
    "web/[br].py": "go()\n",
    "settings.py": "DEFAULT_PAGE = 10\n",
    "uses.py": "# DEFAULT_PAGE DEFAULT_PAGE\nshow(DEFAULT_PAGE, DEFAULT_PAGE)\n",
    "server.rs": "impl Server {\n    fn run_it(&self) {\n    }\n}\n",
    "uses.rs": "fn main() {\n    // run_it run_it run_it\n    Server::run_it();\n}\n",
    "cart.rb": "module Shop\n  class Cart\n    def empty_now?\n    end\n  end\nend\n",
    "box.go": "package box\n\nfunc (s *Server) RunNow() {\n}\n",
    "Shop.java": "package com.acme;\nclass Shop {\n  void cancelOrder() {\n  }\n}\n",
    "cart.ps1": "function Get-Cart {\n    1\n}\n",
    "cart.ex": "defmodule Shop.Till do\n  def close(x) do\n    x\n  end\nend\n",
    "geld.py": "def überweisung():\n    return 1\n",
    "session.py": "class Session:\n    pass\n",
    "ge/plain.py": "def g():\n    return 1\n",
    "client.py": "class Response:\n    def json(self):\n        return 1\n",
    "worker.py": "class Worker:\n    def conf(self):\n        return 1\n",
    "Fold.hs": "foldl' f = 1\n",
    "FoldLazily.hs": "foldl f = foldl f\n",
    "till.lisp": "(defvar *current-till* nil)\n",
    "money.cpp": "bool Money::operator==(const Money& other) {\n  return true;\n}\n",
    "stack.rs": "impl<T> Stack<T> {\n    fn push(&mut self) {\n    }\n}\n",
    "Basket.m": "@implementation Basket\n- (void)put:(id)one times:(int)n {\n}\n@end\n",
    "main.tf": 'resource "aws_instance" "webby" {\n}\n',
}


@pytest.fixture
def first(clone: Folder, index: Index, call: Call) -> None:
    clone.write(FILES)
    index(clone)


QUERIES = {
    "setup.py": "setup.py",
    "./setup.py": "setup.py",
    "app/models.py": "app/models.py",
    "app\\models.py": "app/models.py",
    ".gitlab-ci.yml": ".gitlab-ci.yml",
    "where is .pre-commit-config.yaml": ".pre-commit-config.yaml",
    ".env.example": ".env.example",
    "LICENSE": "LICENSE",
    "docs/My File.md": "docs/My File.md",
    "app/(shop)/page.tsx": "app/(shop)/page.tsx",
    "(see app/(shop)/page.tsx)": "app/(shop)/page.tsx",
    "[br].py": "web/[br].py",
    "DEFAULT_PAGE": "settings.py",
    "what is DEFAULT_PAGE for": "settings.py",
    "Server::run_it": "server.rs",
    "Shop::Cart#empty_now?": "cart.rb",
    "is it empty_now?": "cart.rb",
    "Server.RunNow": "box.go",
    "com.acme.Shop.cancelOrder": "Shop.java",
    "models.Book.cancel_it": "app/models.py",
    "self.cancel_it": "app/models.py",
    "aws_instance.webby": "main.tf",
    "Get-Cart": "cart.ps1",
    "what does Get-Cart return": "cart.ps1",
    "Shop.Till.close/1": "cart.ex",
    "überweisung": "geld.py",
    "class Session": "session.py",
    "plain.g": "ge/plain.py",
    "Response.json": "client.py",
    "def Response.json": "client.py",
    "how does Response.json() decode": "client.py",
    "worker.conf": "worker.py",
    "where is class Session used": "session.py",
    "foldl'": "Fold.hs",
    "where is foldl' defined": "Fold.hs",
    "foldl": "FoldLazily.hs",
    "*current-till*": "till.lisp",
    "who binds *current-till* anew": "till.lisp",
    "Money::operator==": "money.cpp",
    "where is operator== defined": "money.cpp",
    "Stack<T>::push": "stack.rs",
    "Stack<Vec<u8>>::push": "stack.rs",
    "put:times:": "Basket.m",
}


def test_each_comes_first(first: None, call: Call) -> None:
    for query, path in QUERIES.items():
        best = call("repository_search", query=query, top_k=1).results[0]
        assert (query, best.path, best.exact) == (query, path, True)


@pytest.mark.parametrize(
    ("query", "identifiers"),
    [
        ("Query.sql", ["Query.sql"]),
        ("Matrix.f", ["Matrix.f"]),
        ("what does data.r() return", ["data.r"]),
        ("main.c", []),
        ("where is orders.py", []),
        ("who calls def login?", ["login"]),
        ("is class of errors a type of it", []),
        ("std::map<std::string, std::vector<int>>::find", ["std.map.find"]),
        ("Vec::<T>::new", ["Vec.new"]),
        ("if x<y or z>w", []),
        ("a *cancel_order* here", ["*cancel_order*", "cancel_order"]),
        ("'cancel_order'", ["cancel_order"]),
        ("the getOrders' result", ["getOrders'", "getOrders"]),
        ("they don't, at 2*x*y", []),
        ("which operator, and what", []),
    ],
)
def test_identifiers_are_told_from_words_and_files(query: str, identifiers: list[str]) -> None:
    assert asking.named_in(query).identifiers == identifiers


@pytest.mark.parametrize("query", ["retry, e.g. with a pause", "i.e. the page", "lain.g"])
def test_an_abbreviation_or_a_part_of_a_name_names_nothing(
    first: None, call: Call, query: str
) -> None:
    assert not any(found.exact for found in call("repository_search", query=query).results)


@pytest.mark.parametrize(
    ("name", "text", "symbols"),
    [
        (
            "a.py",
            "LIMIT = 1\nf = lambda: 1\nA, b = 1, 2\nclass K:\n    MAX = 3\n    own = 1\n",
            ["K", "LIMIT", "f", "A", "b", "K.MAX"],
        ),
        (
            "a.py",
            "if x:\n    LATE = 1\ndef f():\n    LOCAL = 1\nx.y = 1\nd[1] = 2\n",
            ["f", "LATE"],
        ),
        (
            "a.ts",
            "export const API = 1\nclass K { static make = () => 1 }\n",
            ["K", "K.make", "API"],
        ),
        ("a.go", "var ErrGone = 1\nconst (\n\tMaxOpen = 1\n)\n", ["ErrGone", "MaxOpen"]),
        ("a.rs", "const MAX: u8 = 1;\nstatic S: u8 = 1;\n", ["MAX", "S"]),
        ("a.c", "#define BUF 1\nstatic int n = 3, *p;\nint proto(int a);\n", ["BUF", "n", "p"]),
        ("A.java", "class A {\n  static final int max = 3;\n  int own;\n}\n", ["A", "A.max"]),
        ("a.cs", "class A {\n  public const int Max = 3;\n}\n", ["A", "A.Max"]),
        ("a.rb", "LIMIT = 3\ndef go\n  x = 1\nend\n", ["go", "LIMIT"]),
        ("a.php", "<?php\nconst TOP = 1;\nclass A {\n  const L = 3;\n}\n", ["A", "TOP", "A.L"]),
        ("a.kt", "const val MAX = 3\n", ["MAX"]),
        ("a.scala", "object A {\n  val Max = 3\n}\n", ["A", "A.Max"]),
        ("a.lua", "local M = {}\nMAX = 3\n", ["M", "MAX"]),
        ("run.sh", "MAX=3\nexport OTHER=2\n", ["MAX", "OTHER"]),
        ("a.dart", "const max = 3;\n", ["max"]),
    ],
)
def test_constants_and_variables_of_modules_are_defined(
    name: str, text: str, symbols: list[str]
) -> None:
    assert chunking.cut(text, languages.language_of(name, text)).symbols == symbols


@pytest.mark.parametrize("name", ["A::B#go?", "A\\B->go", "A.B.go", "A.B<T>.go!"])
def test_a_name_is_known_by_each_of_its_ends(name: str) -> None:
    assert names.suffixes_of(name) == ["A.B.go", "B.go", "go"]
