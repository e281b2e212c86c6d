"""People look at repositories, index them again and remove them in the admin."""

from typing import Any

import pytest
from django.test import Client

from contextd.models import Job
from repositories import services
from repositories.models import Repository, SourceFile
from tests.repositories.conftest import Folder, Index

LIST = "/admin/repositories/repository/"
FILES = "/admin/repositories/sourcefile/"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(folder: Folder, index: Index) -> Folder:
    folder.write({"a.py": "def zeppelin():\n    return 1\n", "b.py": "def orchard():\n    pass\n"})
    index(folder)
    return folder


def act(client: Client, action: str) -> Any:
    form = {"action": action, "_selected_action": [Repository.objects.get().pk], "post": "yes"}
    return client.post(LIST, form, follow=True)


def test_they_are_listed_with_their_last_run(admin_client: Client, shop: Folder) -> None:
    page = admin_client.get(LIST).content.decode()
    whole = admin_client.get(f"{LIST}{Repository.objects.get().pk}/change/").content.decode()

    assert all(word in page for word in (str(shop.path), "done", "shop"))
    assert "files_indexed" in whole


def test_one_is_indexed_again(admin_client: Client, shop: Folder) -> None:
    admin_client.defaults["HTTP_HOST"] = "localhost"
    (shop.path / "a.py").unlink()

    page = act(admin_client, "index_selected")

    assert "1 are being indexed again" in str(next(iter(page.context["messages"])))
    job = Job.objects.get(state=Job.State.QUEUED)
    assert b"queued" in admin_client.get(LIST).content
    services.index(job.pk)
    assert SourceFile.objects.get().path == "b.py"


def test_without_roots_an_admin_on_another_machine_indexes_nothing_again(
    admin_client: Client, shop: Folder, settings: Any
) -> None:
    admin_client.defaults |= {"HTTP_HOST": "localhost", "HTTP_X_FORWARDED_FOR": "192.0.2.7"}

    refused = act(admin_client, "index_selected")
    settings.CONTEXTD_INDEX_ROOTS = [str(shop.path.parent)]
    accepted = act(admin_client, "index_selected")

    assert "CONTEXTD_INDEX_ROOTS" in str(next(iter(refused.context["messages"])))
    assert "1 are being indexed again" in str(next(iter(accepted.context["messages"])))


def test_a_removed_repository_is_deleted_with_its_files(admin_client: Client, shop: Folder) -> None:
    act(admin_client, "delete_selected")

    assert (Repository.objects.count(), SourceFile.objects.count()) == (0, 0)


def test_files_are_found_by_what_they_are_about_and_shown(
    admin_client: Client, shop: Folder
) -> None:
    page: Any = admin_client.get(FILES, {"q": "zeppelin"})
    (file,) = page.context["cl"].queryset
    whole = admin_client.get(f"{FILES}{file.pk}/change/").content.decode()

    assert file.path == "a.py"
    assert "def zeppelin():" in whole


def test_a_deleted_file_is_not_found_and_its_text_is_not_shown(
    admin_client: Client, shop: Folder
) -> None:
    file = SourceFile.objects.get(path="a.py")
    (shop.path / "a.py").unlink()

    page: Any = admin_client.get(FILES, {"q": "zeppelin"})
    whole = admin_client.get(f"{FILES}{file.pk}/change/").content.decode()

    assert list(page.context["cl"].queryset) == []
    assert "def zeppelin" not in whole


def test_records_cannot_be_edited(admin_client: Client, shop: Folder) -> None:
    key = SourceFile.objects.earliest("pk").pk

    assert admin_client.get(f"{LIST}add/").status_code == 403
    assert admin_client.post(f"{FILES}{key}/delete/", {"post": "yes"}).status_code == 403
