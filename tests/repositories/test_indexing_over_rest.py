"""A repository is indexed, looked up and searched over REST, with a worker that does the work."""

from collections.abc import Mapping
from typing import Any

import httpx2

from tests.repositories.conftest import Folder
from tests.repositories.test_index_repository import shop
from tests.repositories.test_interrupted_runs import worker

__all__ = ["shop"]

WORKER_SECONDS = 300


def post(http: httpx2.Client, name: str, **arguments: Any) -> Any:
    response = http.post(f"/api/v1/{name}", json=arguments, timeout=WORKER_SECONDS)
    assert response.status_code == 200, response.text
    return response.json()


def test_what_a_worker_has_indexed_is_found(
    http: httpx2.Client, environment: Mapping[str, str], shop: Folder
) -> None:
    shop.write({"poetry.lock": "x"})
    with worker(environment):
        run = post(http, "index_repository", path=str(shop.path), include_patterns=["*.py"])
        (shop.path / "src/0.py").unlink()
        again = post(http, "index_repository", path=str(shop.path))

    status = post(http, "index_status", job_id=again["job_id"])
    answer = post(http, "repository_search", query="zeppelin_2", project_path=str(shop.path))

    assert (run["state"], run["added"], run["skipped"]) == ("done", 3, {"not_included": 1})
    assert (status["state"], status["unchanged"], status["removed"]) == ("done", 2, 1)
    assert (status["files_indexed"], status["skipped"]) == (2, {"lock_file": 1})
    (best, *_) = answer["results"]
    assert (best["path"], best["exact"]) == ("src/2.py", True)
    assert best["passages"][0]["symbol"] == "zeppelin_2"
    assert best["passages"][0]["text"].startswith("def zeppelin_2():")
