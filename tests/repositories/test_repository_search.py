"""Code is found by what it does, by its words, and first by its exact name."""

from typing import Any

import pytest

from contextd import pipeline, search
from contextd.errors import Invalid
from tests.conftest import Call, StrangerTo
from tests.repositories.conftest import Folder, Index, found

ORDERS = '''class OrderBook:
    """Keeps what customers ordered."""

    def parse_invoice(self, text):
        """Read the amount and the currency that stand in an invoice."""
        return text.split()

    def cancel(self, order):
        return None
'''
USES = """from orders import OrderBook

# parse_invoice parse_invoice parse_invoice: it is called very often here
def run(book):
    book.parse_invoice("1 EUR")
    book.parse_invoice("2 EUR")
    return book.parse_invoice("3 EUR")
"""
FILES = {
    "src/orders.py": ORDERS,
    "src/run.py": USES,
    "web/cart.ts": "export function addToCart(item: string) {\n  return item\n}\n",
    "docs/guide.md": "# Refunds\n\nHow money goes back to a customer.\n\n# Shipping\n\nBy ship.\n",
}


@pytest.fixture
def shop(clone: Folder, index: Index) -> Folder:
    clone.write(FILES)
    index(clone)
    return clone


def best(call: Call, query: str, **arguments: Any) -> Any:
    return call("repository_search", query=query, **arguments).results[0]


def test_by_meaning_once_a_worker_has_embedded_it(shop: Folder, call: Call) -> None:
    before = call("repository_search", query="reimburse the buyer")
    search.embed_pending()
    after = call("repository_search", query="reimburse the buyer")

    assert before.passages_pending == call("index_status", path=str(shop.path)).passages > 0
    assert "not embedded yet" in before.notice
    assert (after.passages_pending, after.notice) == (0, None)
    assert after.results[0].path == "docs/guide.md"
    assert after.results[0].passages[0].symbol == "Refunds, Shipping"


def test_what_defines_an_identifier_comes_before_what_uses_it(shop: Folder, call: Call) -> None:
    for query in ("parse_invoice", "where does parse_invoice get the currency", "`OrderBook`"):
        results = call("repository_search", query=query).results
        assert (results[0].path, results[0].exact) == ("src/orders.py", True)
        assert not any(result.exact for result in results[1:])

    method = best(call, "OrderBook.cancel").passages[0]
    assert (method.first_line, method.last_line) == (1, 9)
    assert "OrderBook.cancel" in method.symbol


def test_a_path_in_the_query_comes_first(shop: Folder, call: Call) -> None:
    for query in ("src/run.py", "run.py", "what does run.py do with orders"):
        assert (best(call, query).path, best(call, query).exact) == ("src/run.py", True)


def test_a_path_is_recognised_in_all_its_notations(shop: Folder, index: Index, call: Call) -> None:
    shop.write({".github/workflows/ci.yml": "on: push\n", "app/[id]/page.tsx": "go();\n"})
    shop.write({"Makefile": "run:\n\tgo\n"})
    index(shop)
    for query, path in {
        f"{shop.path}/src/run.py": "src/run.py",
        "error in src/run.py:12:5, see there": "src/run.py",
        "./src/run.py#L3-L7": "src/run.py",
        ".github/workflows/ci.yml": ".github/workflows/ci.yml",
        "app/[id]/page.tsx": "app/[id]/page.tsx",
        "which targets has the Makefile": "Makefile",
    }.items():
        assert (query, best(call, query).path, best(call, query).exact) == (query, path, True)


def test_what_is_called_in_a_question_is_code(shop: Folder, call: Call) -> None:
    assert best(call, "where is cancel() done").exact
    assert not best(call, "where does somebody cancel").exact


def test_a_file_comes_once_with_its_best_passages(folder: Folder, index: Index, call: Call) -> None:
    functions = [f"def zeppelin_{n}():\n" + "    go()\n" * 80 for n in range(6)]
    folder.write({"a.py": "\n".join(functions), "b.py": "def orchard():\n    return 'zeppelin'\n"})
    index(folder)

    results = call("repository_search", query="zeppelin").results

    assert sorted(result.path for result in results) == ["a.py", "b.py"]
    passages = next(result.passages for result in results if result.path == "a.py")
    assert len(passages) == 3
    assert [one.score for one in passages] == sorted((p.score for p in passages), reverse=True)


@pytest.mark.parametrize(
    ("narrowed", "paths"),
    [
        ({"paths": ["src/**"]}, {"src/orders.py", "src/run.py"}),
        ({"paths": ["*.md", "/web/*.ts"]}, {"docs/guide.md", "web/cart.ts"}),
        ({"languages": ["typescript"]}, {"web/cart.ts"}),
        ({"languages": ["python"], "paths": ["*run*"]}, {"src/run.py"}),
        ({"paths": ["nothing/"]}, set()),
    ],
)
def test_by_path_and_language(
    shop: Folder, call: Call, narrowed: dict[str, Any], paths: set[str]
) -> None:
    assert set(found(call, "customer order cart", top_k=10, **narrowed)) == paths


def test_a_glob_that_is_none_is_named(call: Call) -> None:
    with pytest.raises(Invalid, match=r"paths has '\./src/\*', which matches nothing: omit \./"):
        call("repository_search", query="x", paths=["./src/*"])
    with pytest.raises(Invalid, match="paths has an invalid pattern"):
        call("repository_search", query="x", paths=["!"])


def test_paths_that_begin_with_the_folder_are_explained(shop: Folder, call: Call) -> None:
    answer = call("repository_search", query="order", paths=[f"{shop.path}/src/**"])

    assert answer.results == []
    assert answer.notice == f"No file matches: paths are within a repository, so omit {shop.path}."


def test_a_language_that_there_is_not_is_named(call: Call) -> None:
    with pytest.raises(Invalid, match="unknown languages: klingon; known are: actionscript, ada"):
        call("repository_search", query="x", languages=["python", "klingon"])


def test_as_much_text_as_is_asked_for(folder: Folder, index: Index, call: Call) -> None:
    text = "def zeppelin():\n" + "    go(to='the clouds')\n" * 24
    folder.write({"a.py": text})
    index(folder)

    without, beginning, whole = (
        best(call, "zeppelin", content=content).passages[0].text
        for content in ("path", "preview", "full")
    )

    assert without is None
    assert beginning.endswith("\n…")
    assert text.startswith(beginning[:-2])
    assert whole == text.rstrip()


def test_only_of_the_repository_or_project_that_is_asked_for(
    shop: Folder, index: Index, call: Call
) -> None:
    other = Folder(shop.path.parent / "other")
    other.write({"orders.py": ORDERS})
    index(other)

    inside = call("repository_search", query="OrderBook", project_path=str(other.path / "deep"))
    unknown = call("repository_search", query="OrderBook", project_path="/w/nowhere")

    assert {result.repository for result in inside.results} == {str(other.path)}
    assert len(call("repository_search", query="OrderBook", top_k=10).results) > 2
    assert "No project is known for /w/nowhere" in unknown.notice
    by_remote = call("repository_search", query="OrderBook", git_remote="git@x.io:acme/none.git")
    assert by_remote.results == []
    assert "No project is known for x.io/acme/none" in by_remote.notice


def test_a_file_of_two_indexed_folders_comes_once(shop: Folder, index: Index, call: Call) -> None:
    index(Folder(shop.path / "src"))

    results = call("repository_search", query="OrderBook", top_k=10).results

    assert len({f"{one.repository}/{one.path}" for one in results}) == len(results)
    assert call("repository_list").total == 2


def test_nothing_of_a_project_that_is_not_granted(
    shop: Folder, call: Call, stranger_to: StrangerTo
) -> None:
    stranger = stranger_to(shop.path)

    for query in ("OrderBook", "src/orders.py", "customers"):
        result: Any = pipeline.call("repository_search", {"query": query}, stranger)
        assert result.results == []
        assert result.passages_pending == 0
    assert found(call, "OrderBook")


def test_credentials_in_code_are_not_stored(clone: Folder, index: Index, call: Call) -> None:
    clone.write({"a.py": "ZEPPELIN = 'postgresql://app:s3cretpass@db/shop'\nB = 1\n"})
    index(clone)

    text = best(call, "zeppelin", content="full").passages[0].text

    assert "s3cretpass" not in text
    assert "[REDACTED:" in text
