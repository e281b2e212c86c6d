"""The tool waits for a run, reports progress, and leaves a long run to the worker."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import httpx2
import pytest
from celery import current_app
from django.core.management import call_command
from django.db import connection

from contextd import jobs, pipeline
from contextd.callers import Caller
from contextd.conversations import Alone
from contextd.errors import Busy, Internal
from contextd.models import Job
from repositories import awaiting, grammar, services
from repositories.models import Repository
from tests.clients import MODERN_VERSION, over_http, structure_of
from tests.contextd import test_mcp_tasks as tasks
from tests.repositories.conftest import Folder, Index
from tests.server import Server
from tests.waiting import wait_for

CODE = "def zeppelin_{0}():\n    return {0}\n"
TIMEOUT_SECONDS = 30
AFTER_CHECKS_AND_BEGIN = 3

Outcome = TypeVar("Outcome")


@pytest.fixture
def at_once() -> Iterator[None]:
    """Tasks are done where they are queued."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


@pytest.fixture
def shop(folder: Folder) -> Folder:
    folder.write({f"src/{n}.py": CODE.format(n) for n in range(3)})
    return folder


@pytest.fixture
def ask(transactional_db: None, local: Caller) -> Callable[..., Any]:
    def ask(name: str, **arguments: Any) -> Any:
        return pipeline.call(name, arguments, local)

    return ask


@pytest.mark.usefixtures("at_once")
def test_it_answers_with_what_was_found(shop: Folder, ask: Any) -> None:
    first = ask("index_repository", path=str(shop.path), include_patterns=["*.py"])
    (shop.path / "src/0.py").unlink()
    second = ask("index_repository", path=str(shop.path), max_file_size=10**9)

    assert (first.files_indexed, first.added, first.state) == (3, 3, "done")
    assert (first.path, first.include_patterns) == (str(shop.path), ["*.py"])
    assert (first.done, first.total, first.current_path) == (3, 3, "")
    assert (second.unchanged, second.removed, second.max_file_size) == (2, 1, 10 * 1024 * 1024)


def test_past_its_limit_it_tells_where_to_ask(
    shop: Folder, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaiting, "SPARED_SECONDS", 300)

    answer = ask("index_repository", path=str(shop.path))

    assert (answer.state, answer.files_indexed) == ("queued", 0)
    assert answer.notice.startswith(f"The run goes on: ask index_status for job {answer.job_id};")
    services.index(int(answer.job_id))
    assert ask("index_status", job_id=answer.job_id).files_indexed == 3


def test_a_second_run_joins_the_first(
    shop: Folder, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaiting, "SPARED_SECONDS", 300)

    first = ask("index_repository", path=str(shop.path), include_patterns=["*.py"])
    second = ask("index_repository", path=str(shop.path), include_patterns=["*.md"])

    assert first.job_id == second.job_id
    assert second.include_patterns == ["*.py"]
    assert second.notice.endswith("It was already in progress, with different include_patterns.")
    assert Job.objects.count() == 1


class Crowded(Alone):
    """Has no worker for the answer at first."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    async def do(self, work: Callable[[], Outcome]) -> Outcome:
        self._count += 1
        if self._count == AFTER_CHECKS_AND_BEGIN:
            raise Busy("too many calls are waiting")
        return await super().do(work)


@pytest.mark.usefixtures("at_once")
def test_its_answer_waits_for_a_worker(shop: Folder, transactional_db: None, local: Caller) -> None:
    arguments = {"path": str(shop.path)}

    answer: Any = pipeline.call("index_repository", arguments, local, Crowded())

    assert answer.state == "done"


@pytest.mark.usefixtures("at_once")
def test_a_run_that_fails_says_why(shop: Folder, ask: Any, caller: Caller, settings: Any) -> None:
    ask("index_repository", path=str(shop.path))
    repository = Repository.objects.get()
    started = services.submit(repository, "tester", queued=False)
    settings.CONTEXTD_INDEX_ROOTS = ["/srv/nothing"]
    services.index(started.job_id)

    with pytest.raises(Internal, match="is no longer a folder that the server may read"):
        services.outcome(caller, started.job_id)


class Run:
    """What a client that calls index_repository hears and is answered."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, float | None, str | None]] = []
        self.answer: Any = None
        self.news = anyio.Event()

    async def note(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.heard.append((progress, total, message))
        self.news.set()

    async def call(self, server: Server, version: str, folder: Folder) -> None:
        async with over_http(server, version) as session:
            result = await session.call_tool(
                "index_repository", {"path": str(folder.path)}, progress_callback=self.note
            )
        self.answer = structure_of(result)


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2025-06-18", MODERN_VERSION])
async def test_a_client_hears_how_far_it_is(server: Server, version: str, shop: Folder) -> None:
    run = Run()
    async with anyio.create_task_group() as calls:
        calls.start_soon(run.call, server, version, shop)
        job_id = await on_thread(job_on_its_way)
        hold = await on_thread(lambda: jobs._take(job_id))
        await on_thread(lambda: hold.report(1, 3, "src/1.py"))
        with anyio.fail_after(TIMEOUT_SECONDS):
            await run.news.wait()
        await on_thread(lambda: give_back(job_id))
        await on_thread(lambda: services.index(job_id))

    assert run.heard[:1] == [(1, 3, "src/1.py")]
    assert run.answer["files_indexed"] == 3


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2025-06-18", MODERN_VERSION])
async def test_a_client_that_cancels_its_call_ends_the_run(
    server: Server, version: str, shop: Folder
) -> None:
    async with over_http(server, version) as session:
        async with anyio.create_task_group() as calls:
            calls.start_soon(session.call_tool, "index_repository", {"path": str(shop.path)})
            job_id = await on_thread(job_on_its_way)
            calls.cancel_scope.cancel()
        assert await on_thread(lambda: state_at_end(job_id)) == Job.State.CANCELLED


@pytest.mark.anyio
async def test_a_caller_who_joined_a_run_does_not_end_it_for_the_caller_who_started_it(
    server: Server, shop: Folder, index: Index, local: Caller
) -> None:
    asked: dict[str, Any] = {
        "include_patterns": [],
        "exclude_patterns": [],
        "max_file_size": 1000,
    }
    began = await on_thread(lambda: services.begin(local, path=str(shop.path), **asked))
    await on_thread(lambda: jobs._take(began.job_id))
    await on_thread(lambda: Job.objects.update(done=1, total=3))
    run = Run()
    async with over_http(server, MODERN_VERSION) as session:
        async with anyio.create_task_group() as calls:
            calls.start_soon(
                session.call_tool, "index_repository", {"path": str(shop.path)}, None, run.note
            )
            with anyio.fail_after(TIMEOUT_SECONDS):
                await run.news.wait()
            calls.cancel_scope.cancel()
        await session.call_tool("index_status", {"path": str(shop.path)})

    job = await on_thread(lambda: Job.objects.get(pk=began.job_id))
    assert (job.state, job.is_unwanted) == (Job.State.RUNNING, False)


@pytest.mark.anyio
async def test_a_run_ends_when_all_calls_that_requested_it_are_cancelled(
    server: Server, shop: Folder
) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        async with anyio.create_task_group() as calls:
            for _ in range(2):
                calls.start_soon(session.call_tool, "index_repository", {"path": str(shop.path)})
            job_id = await on_thread(job_on_its_way)
            joined = Job.objects.filter(pk=job_id, request_count=2)
            await on_thread(lambda: wait_for(joined.exists))
            calls.cancel_scope.cancel()
        assert await on_thread(lambda: state_at_end(job_id)) == Job.State.CANCELLED


@pytest.mark.anyio
async def test_the_caller_who_started_a_run_does_not_end_it_for_a_caller_who_joined_it(
    server: Server, shop: Folder, local: Caller
) -> None:
    async with over_http(server, MODERN_VERSION) as session:
        async with anyio.create_task_group() as calls:
            calls.start_soon(session.call_tool, "index_repository", {"path": str(shop.path)})
            job_id = await on_thread(job_on_its_way)
            await on_thread(
                lambda: services.begin(
                    local,
                    path=str(shop.path),
                    include_patterns=[],
                    exclude_patterns=[],
                    max_file_size=1000,
                )
            )
            calls.cancel_scope.cancel()
        await session.call_tool("index_status", {"path": str(shop.path)})

    assert await on_thread(lambda: Job.objects.get(pk=job_id).is_open)


def test_a_run_that_goes_on_can_be_ended(
    shop: Folder, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaiting, "SPARED_SECONDS", 300)
    ask("index_repository", path=str(shop.path))

    ended = ask("index_cancel", path=str(shop.path))
    again = ask("index_cancel", job_id=ended.job_id)

    assert (ended.state, ended.notice.partition(";")[0]) == ("cancelled", "The run was cancelled")
    assert again == ended


def test_a_client_that_knows_tasks_comes_back(http: httpx2.Client, shop: Folder) -> None:
    call = {"name": "index_repository", "arguments": {"path": str(shop.path)}}
    handle = tasks.ask(http, "tools/call", **call)
    services.index(job_on_its_way())

    task = tasks.wait_for(http, handle["taskId"], "completed")

    assert handle["resultType"] == "task"
    assert task["result"]["structuredContent"]["files_indexed"] == 3


def test_the_command_shows_what_was_found(
    transactional_db: None, shop: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.write({"poetry.lock": "x"})

    call_command("index_repo", str(shop.path), "--exclude", "src/0.py")

    printed = capsys.readouterr()
    assert f"{shop.path}: 2 files are indexed" in printed.out
    assert "2 added, 0 changed, 0 unchanged, 0 removed" in printed.out
    assert "skipped: 1 excluded, 1 lock_file" in printed.out
    assert "2/2" not in printed.out
    assert "Indexing" in printed.err


def test_files_without_all_of_their_definitions_are_counted(
    transactional_db: None,
    shop: Folder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(grammar, "MAX_SECONDS", 0)

    call_command("index_repo", str(shop.path))

    assert "partly outlined: 3" in capsys.readouterr().out
    assert Repository.objects.get().report["partly_outlined"] == 3


def as_served(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Without the operations that only tests have."""
    return {**environment, "DJANGO_SETTINGS_MODULE": "contextd.settings"}


def job_on_its_way() -> int:
    wait_for(Job.objects.exists)
    return Job.objects.get().pk


def state_at_end(job_id: int) -> str:
    wait_for(lambda: not Job.objects.get(pk=job_id).is_open)
    return Job.objects.get(pk=job_id).state


def give_back(job_id: int) -> None:
    Job.objects.filter(pk=job_id).update(state=Job.State.QUEUED)


async def on_thread(work: Callable[[], Any]) -> Any:
    """The database is not asked from a coroutine."""
    return await anyio.to_thread.run_sync(closing_connections(work))


def closing_connections(work: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        try:
            return work()
        finally:
            connection.close()

    return run
