"""The pages for people show indexed files, but none that was deleted."""

import shutil

import pytest
from django.test import Client

from repositories.models import SourceFile
from tests.repositories.conftest import Folder, Index

pytestmark = pytest.mark.django_db(transaction=True)

CODE = "def zeppelin_{0}():\n    return 'flight {0}'\n"


@pytest.fixture
def here() -> Client:
    """A browser on this machine, where nobody has to log in."""
    return Client(headers={"Host": "localhost"})


@pytest.fixture
def shop(folder: Folder, index: Index) -> Folder:
    folder.write({f"{n}.py": CODE.format(n) for n in range(10)})
    index(folder)
    return folder


def found(here: Client) -> set[str]:
    page = here.get("/dashboard/search/", {"q": "zeppelin flight"})
    return {
        "".join(piece.text for piece in one.title)
        for group in page.context["answer"].groups
        for one in group.results
    }


def test_existing_files_take_the_places_of_deleted_ones(here: Client, shop: Folder) -> None:
    before = found(here)
    for path in before:
        (shop.path / path).unlink()

    assert len(before) == 5
    assert len(found(here)) == 5
    assert found(here).isdisjoint(before)


def test_no_file_of_a_deleted_folder_is_found(here: Client, shop: Folder) -> None:
    shutil.rmtree(shop.path)

    assert found(here) == set()


def test_a_deleted_file_has_no_page(here: Client, shop: Folder) -> None:
    key = SourceFile.objects.get(path="3.py").pk
    address = f"/dashboard/records/file/{key}/"
    before = here.get(address)
    (shop.path / "3.py").unlink()

    assert b"def zeppelin_3" in before.content
    assert here.get(address).status_code == 404
    assert here.get(f"{address}related/").status_code == 404
