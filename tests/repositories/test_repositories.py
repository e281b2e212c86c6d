"""Repositories are listed, looked at and removed."""

from typing import Any

import pytest
from django.db.models.signals import post_delete

from contextd import jobs, pipeline
from contextd.errors import Invalid, NotFound
from contextd.models import Job, Project
from contextd.projects import merge
from contextd.search.models import Collection, Passage, Posting
from repositories import indexing, services
from repositories.models import Repository, SourceFile
from tests.conftest import Call, StrangerTo
from tests.repositories.conftest import Folder, Index, found


@pytest.fixture
def shop(folder: Folder, index: Index) -> Folder:
    folder.write({"a.py": "def zeppelin():\n    return 1\n", "b.lock": "x"})
    index(folder)
    return folder


def test_the_list_has_counts(shop: Folder, call: Call) -> None:
    listed = call("repository_list")

    assert listed.total == 1
    (repository,) = listed.repositories
    assert (repository.path, repository.project) == (str(shop.path), "shop")
    assert (repository.files_indexed, repository.state) == (1, "done")
    assert repository.skipped == {"lock_file": 1}
    assert repository.passages == repository.passages_pending == 1
    assert repository.indexed_at is not None


def test_a_removed_one_leaves_nothing(shop: Folder, call: Call) -> None:
    removed = call("repository_remove", path=str(shop.path))

    assert removed.files_removed == 1
    assert found(call, "zeppelin") == []
    counts = [model.objects.count() for model in (Repository, SourceFile, Passage, Posting)]
    assert counts == [0, 0, 0, 0]
    assert Collection.objects.get(domain="file").passages == 0
    assert (shop.path / "a.py").exists()
    with pytest.raises(NotFound, match="is not indexed; index_repository does that"):
        call("repository_remove", path=str(shop.path))


def test_a_run_that_is_on_its_way_ends_with_its_repository(
    shop: Folder, call: Call, local: Any
) -> None:
    started = services.submit(Repository.objects.get(), "tester", queued=False)
    call("repository_remove", path=str(shop.path))

    services.index(started.job_id)

    assert Job.objects.get(pk=started.job_id).state == Job.State.CANCELLED
    assert SourceFile.objects.count() == 0


def test_a_run_that_begins_while_its_repository_is_removed_ends(shop: Folder, call: Call) -> None:
    def begin(instance: Repository, **_: object) -> None:
        services.submit(instance, "tester", queued=False)

    post_delete.connect(begin, Repository)
    try:
        call("repository_remove", path=str(shop.path))
    finally:
        post_delete.disconnect(begin, Repository)

    assert set(Job.objects.values_list("state", flat=True)) == {"done", "cancelled"}


def test_a_run_without_its_repository_stores_and_reports_nothing(
    shop: Folder, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    shop.write({"c.py": "def airship():\n    return 1\n"})
    repository = Repository.objects.get()
    started = services.submit(repository, "tester", queued=False)
    hold = jobs._take(started.job_id)
    Repository.objects.all().delete()

    assert hold
    with pytest.raises(jobs.Stopped):
        indexing.run(repository, hold)
    assert SourceFile.objects.count() == 0
    assert "indexing c.py" not in caplog.text


def test_status_needs_to_know_of_what(call: Call) -> None:
    with pytest.raises(Invalid, match="path or job_id is required"):
        call("index_status")
    with pytest.raises(NotFound):
        call("index_status", job_id="12")
    with pytest.raises(NotFound, match="/w/shop is not indexed"):
        call("index_status", path="/w/shop")


def test_nothing_of_a_project_that_is_not_granted(
    shop: Folder, call: Call, stranger_to: StrangerTo
) -> None:
    stranger = stranger_to(shop.path)
    job_id = call("index_status", path=str(shop.path)).job_id

    assert pipeline.call("repository_list", {}, stranger).total == 0  # type: ignore[attr-defined]
    for name, arguments in (
        ("index_status", {"path": str(shop.path)}),
        ("index_status", {"job_id": job_id}),
        ("index_cancel", {"job_id": job_id}),
        ("repository_remove", {"path": str(shop.path)}),
    ):
        with pytest.raises(NotFound):
            pipeline.call(name, arguments, stranger)
    assert call("repository_list").total == 1


def test_it_follows_its_project_into_another(shop: Folder, index: Index, call: Call) -> None:
    kept = Project.objects.create(name="all")
    merge(kept, Project.objects.get(name="shop"))
    shop.write({"c.py": "def orchard():\n    return 1\n"})
    index(shop)

    assert Repository.objects.get().project == kept
    assert found(call, "zeppelin", project_path=str(shop.path)) == ["a.py"]
    assert found(call, "orchard", project_path=str(shop.path)) == ["c.py"]
