from collections.abc import Iterator

import pytest

from contextd import search
from contextd.models import Project
from contextd.search import registry

NOTES = search.Domain(
    name="zz-note", title="Zz notes", visible_to=Project.objects.visible_to, url_of=str
)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    search.register(NOTES)
    yield
    del registry._registry[NOTES.name]


def test_registered_domains_are_listed_by_title() -> None:
    titles = [domain.title for domain in search.domains()]

    assert NOTES.title in titles
    assert titles == sorted(titles)


def test_two_domains_of_one_name_are_a_mistake() -> None:
    search.register(NOTES)

    other = search.Domain(
        name=NOTES.name, title="Other", visible_to=NOTES.visible_to, url_of=NOTES.url_of
    )
    with pytest.raises(RuntimeError, match="registered twice"):
        search.register(other)


def test_what_search_does_not_offer_it_does_not_have() -> None:
    assert not hasattr(search, "delete_everything")
