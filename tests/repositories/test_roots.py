"""The server reads only the folders that it may read."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User

from contextd import pipeline
from contextd.callers import Caller
from contextd.errors import Invalid, NotAllowed
from contextd.models import Job
from contexts import tokens
from repositories import services
from repositories.models import Repository
from repositories.reading import Reader
from tests.conftest import Call
from tests.git_index import add_to_index
from tests.repositories.conftest import Folder, Index, found, indexed


@pytest.fixture
def begin(index: Index) -> Any:
    def begin(caller: Caller, path: Path) -> services.Started:
        return services.begin(
            caller, path=str(path), include_patterns=[], exclude_patterns=[], max_file_size=1000
        )

    return begin


def test_callers_elsewhere_may_index_nothing_until_roots_are_set(
    begin: Any, folder: Folder, caller: Caller, settings: Any
) -> None:
    for path in (folder.path, folder.path / "nowhere"):
        with pytest.raises(NotAllowed, match="CONTEXTD_INDEX_ROOTS"):
            begin(caller, path)

    settings.CONTEXTD_INDEX_ROOTS = [str(folder.path.parent)]
    assert begin(caller, folder.path).is_new


@pytest.mark.usefixtures("transactional_db")
def test_a_token_may_index_any_folder_from_this_machine_but_not_through_a_proxy(
    http: httpx2.Client, tmp_path: Path
) -> None:
    _, secret = tokens.create(User.objects.create_user("ann"), name="laptop")
    missing = {"path": str(tmp_path / "missing")}
    token = {"Authorization": f"Bearer {secret}"}
    proxied = {**token, "X-Forwarded-For": "127.0.0.1"}

    refused = http.post("/api/v1/index_repository", json=missing, headers=proxied)
    looked_up = http.post("/api/v1/index_repository", json=missing, headers=token)

    assert refused.status_code == 403
    assert "CONTEXTD_INDEX_ROOTS" in refused.json()["message"]
    assert looked_up.status_code == 400
    assert "is not a folder that the server can read" in looked_up.json()["message"]


def test_nobody_leaves_the_roots(
    begin: Any, folder: Folder, local: Caller, settings: Any, tmp_path: Path
) -> None:
    (folder.path / "way_out").symlink_to(tmp_path)
    settings.CONTEXTD_INDEX_ROOTS = [str(folder.path)]

    for path in (tmp_path, folder.path / "way_out", Path(f"{folder.path}-other")):
        with pytest.raises(NotAllowed, match="is outside of the folders that this server indexes"):
            begin(local, path)


def test_roots_and_folders_may_be_given_with_links(
    begin: Any, folder: Folder, caller: Caller, settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(folder.path)
    (folder.path / "api").mkdir()

    for root in ("link", "shop"):
        settings.CONTEXTD_INDEX_ROOTS = [str(tmp_path / root)]
        for path in ("link", "shop"):
            begin(caller, tmp_path / path / "api")

    assert Repository.objects.get().path == str(folder.path / "api")


def test_a_circular_link_does_not_lead_past_another_link(
    begin: Any, folder: Folder, local: Caller, tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to(folder.path)

    with pytest.raises(Invalid, match="is not a folder that the server can read"):
        begin(local, tmp_path / "loop/../link")


def test_a_path_that_is_no_folder_is_reported(begin: Any, folder: Folder, local: Caller) -> None:
    folder.write({"a.py": "x"})

    for path in (folder.path / "a.py", folder.path / "nowhere"):
        with pytest.raises(Invalid, match="is not a folder that the server can read"):
            begin(local, path)


def test_an_indexed_folder_outside_of_new_roots_is_not_read_again(
    index: Index, folder: Folder, call: Call, settings: Any
) -> None:
    folder.write({"a.py": "x = 1\n"})
    index(folder)
    settings.CONTEXTD_INDEX_ROOTS = ["/srv/nothing"]
    started = services.submit(Repository.objects.get(), "tester", queued=False)

    services.index(started.job_id)

    job = Job.objects.get(pk=started.job_id)
    assert job.state == Job.State.FAILED
    assert "is no longer a folder that the server may read" in job.error
    assert found(call, "x") == []
    assert Repository.objects.get().files.count() == 1


@pytest.mark.parametrize("fate", ["deleted", "moved behind a link"])
def test_files_of_a_deleted_folder_are_not_found(
    index: Index, folder: Folder, call: Call, tmp_path: Path, fate: str
) -> None:
    folder.write({"a.py": "zeppelin = 1\n"})
    index(folder)
    assert found(call, "zeppelin") == ["a.py"]
    folder.path.rename(tmp_path / "elsewhere")
    if fate != "deleted":
        folder.path.symlink_to(tmp_path / "elsewhere")

    assert found(call, "zeppelin") == []


def test_a_folder_of_another_machine_is_found(index: Index, folder: Folder, call: Call) -> None:
    folder.write({"a.py": "zeppelin = 1\n"})
    index(folder)
    Repository.objects.update(path="/nowhere/here/shop", host="of-a-colleague")

    assert found(call, "zeppelin") == ["a.py"]


def test_a_folder_deleted_together_with_those_above_it_is_not_found(
    index: Index, folder: Folder, call: Call
) -> None:
    folder.write({"a.py": "zeppelin = 1\n"})
    index(folder)
    Repository.objects.update(path="/nowhere/here/shop")

    assert found(call, "zeppelin") == []


@pytest.mark.parametrize(
    ("patterns", "sentence"),
    [
        (["#a"], "no pattern that can match a file"),
        (["!*.py"], "no pattern that can match a file"),
        (["./src/*.py"], "omit ./"),
        (["x" * 201], "more than 200 characters"),
    ],
)
def test_patterns_that_would_empty_the_index_are_refused(
    folder: Folder, local: Caller, call: Call, patterns: list[str], sentence: str
) -> None:
    with pytest.raises(Invalid, match=sentence) as refusal:
        services.begin(
            local,
            path=str(folder.path),
            include_patterns=patterns,
            exclude_patterns=[],
            max_file_size=1000,
        )

    assert refusal.value.details["field"] == "include_patterns"


@pytest.mark.parametrize("size", [0, 10 * 1024 * 1024 + 1])
def test_an_invalid_maximum_size_is_refused(
    folder: Folder, local: Caller, call: Call, size: int
) -> None:
    with pytest.raises(Invalid, match="max_file_size must be 1 to 10485760 bytes"):
        services.begin(
            local,
            path=str(folder.path),
            include_patterns=[],
            exclude_patterns=[],
            max_file_size=size,
        )


def test_a_folder_is_known_by_its_real_path(
    index: Index, folder: Folder, local: Caller, tmp_path: Path
) -> None:
    folder.write({"a.py": "x = 1\n"})
    (tmp_path / "link").symlink_to(folder.path)

    index(folder)
    index(Folder(tmp_path / "link"))

    assert Repository.objects.get().path == str(folder.path)
    by_link: Any = pipeline.call("index_status", {"path": str(tmp_path / "link")}, local)
    assert by_link.path == str(folder.path)


@pytest.mark.parametrize("above", ["../outside", "inner/../../outside", ".//../outside", "/etc"])
def test_an_index_of_git_cannot_lead_out_of_the_folder(
    clone: Folder, index: Index, tmp_path: Path, above: str
) -> None:
    Folder(tmp_path / "outside").write({"secret.py": "zeppelin = 1\n"})
    clone.write({"inner/a.py": "x = 1\n"})
    add_to_index(clone.path, f"{above}/secret.py")

    report = index(clone)

    assert indexed() == {"inner/a.py"}
    (error,) = report.errors
    assert (error.path, error.error) == (
        f"{above}/secret.py",
        "its path leads out of the folder",
    )
    with pytest.raises(PermissionError):
        Reader(clone.path, 30_000).read(f"{above}/secret.py")
