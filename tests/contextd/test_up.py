import contextlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import httpx2
import psutil
import psycopg
import pytest
from django.contrib.auth.hashers import check_password

from contextd import embedded
from contextd.embedded import addresses
from contextd.embedded.processes import Program
from contextd.supervisor import Restarted
from tests import waiting
from tests.server import free_port, measured
from tests.services import temporary_data_dir

CHECKOUT = Path(__file__).resolve().parent.parent.parent


wait_for = partial(waiting.wait_for, seconds=300)


class Up:
    """One `manage.py up`, in a folder and on a port of its own."""

    def __init__(self, data_dir: Path, is_measured: bool = False, **environment: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.output = data_dir / "up.out"
        self.errors = data_dir / "up.err"
        with self.output.open("w") as output, self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                stdout=output,
                stderr=errors,
                cwd=CHECKOUT,
                env=self._environment(is_measured) | environment,
                # Whoever runs the tests in the background ignores Ctrl-C, and so would it.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        wait_for(lambda: not self.family())

    def _environment(self, is_measured: bool) -> dict[str, str]:
        inherited = {n: v for n, v in os.environ.items() if n not in ("DATABASE_URL", "REDIS_URL")}
        return dict(measured(inherited) if is_measured else inherited) | {
            "CONTEXTD_DATA_DIR": str(self.data_dir),
            "CONTEXTD_HTTP_HOST": "127.0.0.1",
            "CONTEXTD_HTTP_PORT": str(self.port),
        }

    def wait_until_ready(self) -> None:
        wait_for(lambda: self.process.poll() is not None or "is ready" in self.output.read_text())
        assert self.process.poll() is None, self.errors.read_text()

    def end(self, number: signal.Signals | None = None) -> int:
        """Its exit code, after this signal."""
        if number:
            self.process.send_signal(number)
        return self.process.wait(60)

    def status(self) -> Any:
        """What the operation of that name answers."""
        address = f"http://127.0.0.1:{self.port}/api/v1/status"
        return httpx2.post(address, timeout=60).json()

    def child(self, word: str) -> psutil.Process | None:
        children = psutil.Process(self.process.pid).children()
        return next((child for child in children if word in " ".join(child.cmdline())), None)

    def family(self) -> list[psutil.Process]:
        """All that runs for this folder, also when `up` itself does not."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error):
            if addresses.identity(self.data_dir) in " ".join(process.cmdline()):
                return True
            return process.environ().get("CONTEXTD_DATA_DIR") == str(self.data_dir)
        return False


@dataclass(frozen=True)
class FirstRun:
    data_dir: Path
    output: str
    errors: str
    port: int
    stored_password: str
    exit_code: int
    left_running: int


@pytest.fixture(scope="module")
def first_run() -> Iterator[FirstRun]:
    with temporary_data_dir() as path, Up(path, is_measured=True) as up:
        up.wait_until_ready()
        with psycopg.connect(embedded.database_url(path)) as connection:
            rows = connection.execute("SELECT username, password FROM auth_user").fetchall()
            # Else each later run would embed what ships, for minutes and beside what is tested.
            connection.execute("TRUNCATE search_collection CASCADE")
        [(_, stored_password)] = rows
        exit_code = up.end(signal.SIGTERM)
        output, errors = up.output.read_text(), up.errors.read_text()
        yield FirstRun(path, output, errors, up.port, stored_password, exit_code, len(up.family()))


@pytest.fixture
def used_dir(first_run: FirstRun, data_dir: Path) -> Path:
    """A data folder as the first run has left it."""
    copy_first_run(first_run, data_dir)
    return data_dir


def copy_first_run(first_run: FirstRun, folder: Path) -> None:
    subprocess.run(["/bin/cp", "-a", f"{first_run.data_dir}/.", folder], check=True)


def test_the_banner_says_where_everything_is(first_run: FirstRun) -> None:
    address = f"http://127.0.0.1:{first_run.port}"

    assert f"Dashboard    {address}/\n" in first_run.output
    assert f"REST         {address}/api/v1/docs\n" in first_run.output
    assert "skills import --starter\n" in first_run.output
    assert f"{address}/admin/ (user admin, " in first_run.output
    assert (
        f"claude mcp add --transport http contextd {address}/mcp --scope user\n" in first_run.output
    )
    assert str(first_run.data_dir) in first_run.output


def test_the_first_start_prints_a_password_that_works(first_run: FirstRun) -> None:
    printed = re.findall(r"user admin, password (\S+):", first_run.output)

    assert [check_password(word, first_run.stored_password) for word in printed] == [True]


def test_sigterm_stops_everything(first_run: FirstRun) -> None:
    assert first_run.exit_code == 0
    assert first_run.left_running == 0


@dataclass(frozen=True)
class LaterRun:
    output: str
    errors: str
    exit_code: int
    left_running: int


@pytest.fixture(scope="module")
def later_run(first_run: FirstRun) -> Iterator[LaterRun]:
    """A run in a used folder whose Valkey is killed before Ctrl-C stops it."""
    with temporary_data_dir() as path:
        copy_first_run(first_run, path)
        with Up(path) as up:
            up.wait_until_ready()
            valkey = up.child("valkey")
            assert valkey
            valkey.kill()
            wait_for(lambda: "Valkey ended with SIGKILL (log: " in up.errors.read_text())
            wait_for(lambda: up.child("valkey"))
            wait_for(lambda: up.status()["status"] == "healthy")
            exit_code = up.end(signal.SIGINT)
            yield LaterRun(
                up.output.read_text(), up.errors.read_text(), exit_code, len(up.family())
            )


def test_a_later_start_prints_no_password(later_run: LaterRun) -> None:
    assert "is ready" in later_run.output
    assert "password" not in later_run.output


def test_a_dead_valkey_is_replaced_and_jobs_go_on(later_run: LaterRun) -> None:
    """Jobs go on when the status is healthy again, for which the fixture waits."""
    assert "it is restarted" in later_run.errors


def test_ctrl_c_stops_everything(later_run: LaterRun) -> None:
    assert later_run.exit_code == 0
    assert later_run.left_running == 0


def test_after_a_kill_of_up_nothing_is_in_the_way_and_nothing_is_lost(used_dir: Path) -> None:
    with Up(used_dir) as up:
        up.wait_until_ready()
        wait_for(lambda: up.child("celery"))
        worker = up.child("celery")
        assert worker
        with psycopg.connect(embedded.database_url(used_dir)) as connection:
            connection.execute("INSERT INTO auth_group (name) VALUES ('kept')")
        up.end(signal.SIGKILL)
        wait_for(lambda: not worker.is_running())
        with Up(used_dir) as after:
            after.wait_until_ready()
            with psycopg.connect(embedded.database_url(used_dir)) as connection:
                groups = connection.execute("SELECT name FROM auth_group").fetchall()

            assert ("kept",) in groups


def test_a_dead_worker_is_replaced_and_a_dead_web_server_is_the_end(used_dir: Path) -> None:
    with Up(used_dir, is_measured=True) as up:
        up.wait_until_ready()
        wait_for(lambda: up.child("celery"))
        worker, web = up.child("celery"), up.child("contextd.serving")
        assert worker
        assert web
        worker.kill()
        wait_for(lambda: "the worker ended with SIGKILL" in up.errors.read_text())
        wait_for(lambda: up.child("celery"))
        web.kill()

        assert up.end() == 1
        assert up.errors.read_text().endswith(
            "contextd: the web server ended with SIGKILL, so contextd stops: "
            "start it again with `make run`\n"
        )
        assert up.family() == []


def test_a_healthy_run_logs_nothing(first_run: FirstRun) -> None:
    told_to_the_person = ("As root: ", "Still waiting for ", "contextd has stopped.")
    lines = first_run.errors.splitlines()

    assert [line for line in lines if not line.startswith(told_to_the_person)] == []


def test_the_data_folder_is_for_its_owner_alone(data_dir: Path) -> None:
    new = data_dir / "new"
    with Up(data_dir, CONTEXTD_DATA_DIR=str(new), CONTEXTD_HTTP_HOST="192.0.2.1") as up:
        up.end()

    assert stat.S_IMODE(new.stat().st_mode) == 0o700


def test_a_redis_elsewhere_that_does_not_answer_is_said(data_dir: Path) -> None:
    with Up(data_dir, REDIS_URL="redis://me:hunter2@127.0.0.1:1/0") as up:
        exit_code = up.end()
        last_line = up.errors.read_text().splitlines()[-1]

    assert exit_code == 1
    assert last_line.startswith("contextd: REDIS_URL does not answer")
    assert "hunter2" not in up.errors.read_text()


COMMANDS = [["createsuperuser"], ["reembed"], ["token", "list"], ["mcp_stdio"]]
# Each ends as `python manage.py COMMAND` does; one process runs all, since its start takes seconds.
RUN_ALL = f"""
import runpy, sys
for command in {COMMANDS}:
    sys.argv = ["manage.py", *command]
    try:
        runpy.run_path("manage.py", run_name="__main__")
    except SystemExit as end:
        print(end.code, file=sys.stderr)
"""


def test_commands_without_a_database_say_it_in_one_line() -> None:
    nowhere = {**os.environ, "DATABASE_URL": "postgresql://me:hunter2@127.0.0.1:1/none"}

    ended = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        cwd=CHECKOUT,
        env=nowhere,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )

    lines = ended.stderr.splitlines()
    assert ended.stdout == ""
    assert len(lines) == len(COMMANDS)
    for line in lines:
        assert line.startswith("contextd: the database does not answer: start it with `make run`")
        assert "hunter2" not in line


def test_a_taken_port_is_said_before_anything_starts(data_dir: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with Up(data_dir, CONTEXTD_HTTP_PORT=str(taken.getsockname()[1])) as up:
            exit_code = up.end()
            errors = up.errors.read_text().splitlines()

    assert exit_code == 1
    assert len(errors) == 1
    assert "CONTEXTD_HTTP_PORT" in errors[0]
    assert not (data_dir / "postgres").exists()


def test_a_database_elsewhere_that_does_not_answer_is_said(data_dir: Path) -> None:
    with Up(data_dir, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none") as up:
        exit_code = up.end()
        last_line = up.errors.read_text().splitlines()[-1]

    assert exit_code == 1
    assert last_line.startswith("contextd: the database (DATABASE_URL) cannot be used:")


def test_a_worker_that_ends_too_often_is_given_up(capfd: pytest.CaptureFixture[str]) -> None:
    said = ""
    with Restarted(Program("the worker", ["/bin/false"], []), pauses=(0, 0)) as worker:
        while "it is not restarted any more" not in said:
            worker.tend()
            said += capfd.readouterr().err

    assert said.count("it is restarted in") == 2
