from collections import Counter

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextd import search
from contextd.models import Project
from contextd.search.models import Collection, Coverage, Embedding, Passage, Posting, TermCount
from tests.search.conftest import DOMAIN, Find, Save, ids
from tests.search.embedding_server import EmbeddingServer

LONG = "\n".join(f"Step {number} of the deployment went well." for number in range(120))


def assert_counts_are_exact() -> None:
    """All that is counted is what a count of the rows gives."""
    for collection in Collection.objects.all():
        stored = Passage.objects.filter(collection=collection)
        counts = Counter(term for passage in stored for term in passage.words.indices())
        postings = Posting.objects.filter(collection=collection)
        known = TermCount.objects.filter(collection=collection)
        covered = Coverage.objects.filter(collection=collection).values_list("space", "passages")
        embedded = Embedding.objects.filter(collection=collection).values_list("space", flat=True)

        assert collection.passages == stored.count()
        assert Counter(postings.values_list("term", flat=True)) == counts
        assert dict(known.values_list("term", "passages")) == counts
        assert {s: n for s, n in covered if n} == Counter(embedded)


def rows() -> dict[str, int]:
    models = (Passage, Posting, TermCount, Embedding)
    return {model.__name__: model.objects.count() for model in models}


def test_a_record_stored_again_has_only_its_new_passages(
    server: EmbeddingServer, save: Save, find: Find
) -> None:
    save(1, "Old news", LONG)
    save(1, "Fresh news", "about caches")

    assert Passage.objects.get().headline == "Fresh news"
    assert find("Step 77 of the deployment").hits[0].lexical == 0
    assert_counts_are_exact()


def test_a_forgotten_record_leaves_nothing(server: EmbeddingServer, save: Save) -> None:
    save(1, "News", LONG)
    search.forget(DOMAIN, [1])
    search.forget(DOMAIN, [1])

    assert not any(rows().values())
    assert_counts_are_exact()


def test_forgetting_one_record_leaves_the_others(
    server: EmbeddingServer, save: Save, find: Find
) -> None:
    save(1, "News of caches")
    save(2, "News of caches")
    search.forget(DOMAIN, [1])

    assert ids(find("caches")) == [2]
    assert_counts_are_exact()


def test_records_of_the_same_number_in_two_domains_do_not_meet(
    server: EmbeddingServer, find: Find, db: None
) -> None:
    for domain in ("note", "file"):
        search.store(domain, 1, None, search.prepare(f"text of a {domain}"))
    search.forget("file", [1])

    assert ids(find("text", domain="note")) == [1]
    assert ids(find("text", domain="file")) == []


def test_passages_that_have_not_changed_keep_their_vectors(
    server: EmbeddingServer, db: None
) -> None:
    search.store(DOMAIN, 1, None, search.prepare("News", LONG))
    before = dict(Embedding.objects.values_list("passage", "vector"))
    search.store(DOMAIN, 1, None, search.cut("News", LONG + "\nAnd one more."))
    after = dict(Embedding.objects.values_list("passage", "vector"))

    assert len(after) == len(before) - 1
    assert after.items() < before.items()
    assert_counts_are_exact()


def test_a_passage_that_only_moved_says_its_new_lines(server: EmbeddingServer, save: Save) -> None:
    paragraph = " ".join(["word"] * 200) + "\n\n"
    save(1, "News", paragraph + "second " * 200)
    save(1, "News", "\n" + paragraph + "second " * 200)

    lines = Passage.objects.order_by("ordinal").values_list("ordinal", "first_line")
    assert list(lines) == [(0, 2), (1, 4)]


def test_a_record_may_move_to_another_project(
    server: EmbeddingServer, save: Save, find: Find, project: Project
) -> None:
    save(1, "News of caches")
    save(1, "News of caches", project=project)

    assert ids(find("caches", projects=frozenset(), shared=True)) == []
    assert ids(find("caches", projects=frozenset([project.pk]), shared=False)) == [1]
    assert_counts_are_exact()


def test_a_project_takes_what_was_found_in_it_along(
    server: EmbeddingServer, save: Save, project: Project
) -> None:
    save(1, "News", LONG, project=project)
    project.delete()

    assert not any(rows().values())
    assert not Collection.objects.exists()


@pytest.mark.parametrize("has_own", [True, False])
def test_merged_projects_are_found_as_one(
    server: EmbeddingServer, save: Save, find: Find, project: Project, has_own: bool
) -> None:
    other = Project.objects.create(name="shop, cloned")
    save(1, "News of caches", project=other)
    if has_own:
        save(2, "More of caches", project=project)
    search.merge_projects(project.pk, other.pk)
    other.delete()

    found = find("caches", projects=frozenset([project.pk]), shared=False)
    assert sorted(ids(found)) == ([1, 2] if has_own else [1])
    assert found.pending == 0
    assert_counts_are_exact()


def test_an_empty_record_is_stored_without_passages(server: EmbeddingServer, save: Save) -> None:
    save(1, "News")
    save(1, "", " \n")

    assert not any(rows().values())


def test_embedding_in_a_transaction_is_refused(
    server: EmbeddingServer, transactional_db: None, find: Find
) -> None:
    find("News")

    with transaction.atomic(), pytest.raises(RuntimeError, match="before the transaction opens"):
        search.prepare("News")
    with transaction.atomic(), pytest.raises(RuntimeError, match="before the transaction opens"):
        find("News")


changes = st.lists(
    st.tuples(
        st.sampled_from(["store", "store without vectors", "forget"]),
        st.integers(1, 3),
        st.sampled_from(["caches expire", "caches expire\n\n" + LONG, LONG, ""]),
        st.booleans(),
    ),
    max_size=8,
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes)
def test_counts_are_exact_after_any_history(
    server: EmbeddingServer, project: Project, history: list[tuple[str, int, str, bool]]
) -> None:
    prepared = {text: search.prepare("News", text) for _, _, text, _ in history}
    with transaction.atomic():
        for what, record_id, text, is_shared in history:
            if what == "forget":
                search.forget(DOMAIN, [record_id])
            else:
                content = prepared[text] if what == "store" else search.cut("News", text)
                search.store(DOMAIN, record_id, None if is_shared else project.pk, content)
            assert_counts_are_exact()
        transaction.set_rollback(True)


def test_of_many_texts_those_that_are_the_same_are_embedded_once(
    server: EmbeddingServer, db: None
) -> None:
    prepared = search.prepare_many([("one", ""), ("two", ""), ("one", "")])

    assert server.texts == ["one", "two"]
    assert [text.embedded for text in prepared] == [True] * 3
    assert prepared[0] == prepared[2] != prepared[1]
