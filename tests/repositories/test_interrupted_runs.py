"""Runs whose process is killed, stopped or ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
from django.utils import timezone

from contextd import jobs, supervisor
from contextd.callers import Caller
from contextd.models import Job
from contextd.search.models import Collection, Passage, Posting, TermCount
from repositories import services
from repositories.models import SourceFile
from tests.conftest import Call
from tests.plain_http import ACCEPT, modern
from tests.repositories.conftest import Folder, Index, found
from tests.repositories.test_index_repository import (
    CODE,
    TIMEOUT_SECONDS,
    as_served,
    job_on_its_way,
    shop,
    state_at_end,
)
from tests.server import ROOT, environment_of_processes, web_process
from tests.waiting import wait_for

__all__ = ["shop"]


def test_a_process_that_is_killed_leaves_nothing_twice_and_nothing_out(
    environment: Mapping[str, str], folder: Folder, index: Index, call: Call
) -> None:
    folder.write({f"{n}.py": CODE.format(n) for n in range(400)})
    command = [sys.executable, "manage.py", "index_repo", str(folder.path)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=as_served(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        wait_for(SourceFile.objects.exists)
        process.kill()
    job = Job.objects.get()
    indexed = SourceFile.objects.count()
    Job.objects.update(leased_until=timezone.now())

    assert (job.state, 0 < indexed < 400) == (Job.State.RUNNING, True)
    assert jobs.sweep() == 1
    services.index(job.pk)

    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.DONE, 2)
    assert (job.outcome["unchanged"], job.outcome["added"]) == (indexed, 400 - indexed)
    assert SourceFile.objects.count() == Passage.objects.count() == 400
    assert Collection.objects.get().passages == 400
    assert sum(TermCount.objects.values_list("passages", flat=True)) == Posting.objects.count()
    assert found(call, "zeppelin_7")[0] == "7.py"


def test_a_run_goes_on_when_the_web_server_of_its_caller_ends(
    transactional_db: None, shop: Folder, tmp_path: Path
) -> None:
    with web_process(as_served(environment_of_processes()), tmp_path / "log") as server:
        message = modern("tools/call", name="index_repository", arguments={"path": str(shop.path)})
        with (
            httpx2.Client(base_url=server.url, headers={"Accept": ACCEPT}, timeout=30) as http,
            ThreadPoolExecutor() as threads,
        ):
            call = threads.submit(lambda: http.post("/mcp", **message).text)
            job_id = job_on_its_way()
            os.kill(server.pid, signal.SIGTERM)
            os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
            assert call.exception() or "error" in call.result()

    job = Job.objects.get(pk=job_id)
    assert (job.state, job.is_unwanted) == (Job.State.QUEUED, False)


def test_a_worker_that_is_killed_is_followed_by_one_that_resumes(
    environment: Mapping[str, str], folder: Folder, local: Caller
) -> None:
    folder.write({f"{n}.py": CODE.format(n) for n in range(600)})
    with worker(environment) as first:
        started = services.begin(
            local,
            path=str(folder.path),
            include_patterns=[],
            exclude_patterns=[],
            max_file_size=1024,
        )
        wait_for(SourceFile.objects.exists)
        first.kill()
        first.wait()
    indexed = SourceFile.objects.count()
    Job.objects.update(leased_until=timezone.now())
    assert (0 < indexed < 600, jobs.sweep()) == (True, 1)

    with worker(environment):
        assert state_at_end(started.job_id) == Job.State.DONE
    assert SourceFile.objects.count() == Passage.objects.count() == 600
    assert Job.objects.get().attempts == 2


@contextmanager
def worker(environment: Mapping[str, str]) -> "Iterator[subprocess.Popen[bytes]]":
    program = supervisor.worker()
    with subprocess.Popen(program.command, cwd=ROOT, env=as_served(environment)) as process:
        yield process
        process.kill()


def test_the_command_stops_at_once_and_resumes(
    environment: Mapping[str, str], folder: Folder
) -> None:
    folder.write({f"{n}.py": CODE.format(n) for n in range(600)})
    command = [sys.executable, "manage.py", "index_repo", "--exclude", "1.py", str(folder.path)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=as_served(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        wait_for(SourceFile.objects.exists)
        process.send_signal(signal.SIGINT)
        _, shown = process.communicate(timeout=TIMEOUT_SECONDS)

    assert process.returncode == 130
    assert b"Traceback" not in shown
    assert shown.strip().endswith(b"the next run of this command resumes from here.")
    assert Job.objects.get().state == Job.State.CANCELLED
