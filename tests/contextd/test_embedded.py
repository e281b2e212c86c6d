import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from celery import Celery

from contextd import embedded
from contextd.embedded import addresses, processes, system_user
from contextd.embedded.processes import Program
from tests.services import temporary_data_dir

CHECKOUT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def first_dir() -> Iterator[Path]:
    with temporary_data_dir() as path:
        with embedded.start_postgres(path):
            pass
        yield path


@pytest.fixture
def used_dir(first_dir: Path, data_dir: Path) -> Path:
    """A data folder with a Postgres that has run before, which starts faster."""
    subprocess.run(["/bin/cp", "-a", f"{first_dir}/postgres", data_dir], check=True)
    return data_dir


def remember(data_dir: Path, word: str) -> None:
    with psycopg.connect(embedded.database_url(data_dir)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS words (word text)")
        connection.execute("INSERT INTO words VALUES (%s)", [word])


def remembered(data_dir: Path) -> list[str]:
    with psycopg.connect(embedded.database_url(data_dir)) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words")]


@contextlib.contextmanager
def parent_of(start: str, data_dir: Path) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """A Python process that starts a server and waits: the process, and the server's."""
    script = f"""
import pathlib, signal, sys
from contextd import embedded
print(embedded.{start}(pathlib.Path(sys.argv[1])).pid, flush=True)
signal.pause()
"""
    command = [sys.executable, "-c", script, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as parent:
        assert parent.stdout
        try:
            yield parent, psutil.Process(int(parent.stdout.readline()))
        finally:
            parent.kill()


def test_what_is_committed_outlives_a_stop(data_dir: Path) -> None:
    with embedded.start_postgres(data_dir):
        remember(data_dir, "kept")
    with embedded.start_postgres(data_dir):
        after = remembered(data_dir)

    assert after == ["kept"]


def test_what_is_committed_outlives_a_kill_of_postgres(used_dir: Path) -> None:
    with embedded.start_postgres(used_dir) as server:
        remember(used_dir, "kept")
        os.kill(server.pid, signal.SIGKILL)
        with embedded.start_postgres(used_dir):
            after = remembered(used_dir)

    assert after == ["kept"]


def test_stop_leaves_no_process_and_no_socket(used_dir: Path) -> None:
    with embedded.start_postgres(used_dir) as postgres, embedded.start_valkey(used_dir) as valkey:
        pids = [postgres.pid, valkey.pid]

    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert not [path for path in (used_dir / "run").rglob("*") if path.is_socket()]


def test_postgres_dies_with_its_parent(used_dir: Path) -> None:
    with parent_of("start_postgres", used_dir) as (parent, server):
        remember(used_dir, "kept")
        parent.kill()
        server.wait(30)
    with embedded.start_postgres(used_dir):
        after = remembered(used_dir)

    assert after == ["kept"]


def test_valkey_dies_with_its_parent(data_dir: Path) -> None:
    with parent_of("start_valkey", data_dir) as (parent, server):
        parent.kill()
        server.wait(30)

    assert not server.is_running()


def test_a_postgres_of_a_dead_run_is_ended(used_dir: Path) -> None:
    with embedded.start_postgres(used_dir) as left, embedded.start_postgres(used_dir):
        assert left.has_ended()


def test_locks_of_a_dead_run_do_not_count(used_dir: Path) -> None:
    with embedded.start_postgres(used_dir):
        lock = used_dir / "postgres" / "postmaster.pid"
        held = lock.read_text().splitlines()[1:]
    someone_else = Program("sleep", ["sleep", "60"], [], account=system_user.account())

    with someone_else.start() as process:
        lock.write_text("\n".join([str(process.pid), *held]))
        with embedded.start_postgres(used_dir) as server:
            assert not server.has_ended()


def test_what_is_queued_outlives_a_kill_of_valkey(data_dir: Path) -> None:
    with embedded.start_valkey(data_dir) as server:
        redis.Redis.from_url(embedded.redis_url(data_dir)).set("job", "1")
        os.kill(server.pid, signal.SIGKILL)
    with embedded.start_valkey(data_dir):
        after = redis.Redis.from_url(embedded.redis_url(data_dir)).get("job")

    assert after == b"1"


def test_the_broker_address_carries_messages(data_dir: Path) -> None:
    with (
        embedded.start_valkey(data_dir),
        Celery(
            broker=embedded.as_broker_url(embedded.redis_url(data_dir))
        ).connection() as connection,
        connection.SimpleQueue("jobs") as queue,
    ):
        queue.put("embed")
        message = queue.get(timeout=5)

    assert message.payload == "embed"


def test_a_redis_elsewhere_is_its_own_broker() -> None:
    assert embedded.as_broker_url("rediss://cache:6379/1") == "rediss://cache:6379/1"


@pytest.mark.parametrize("name", ["deep" * 30, "a b, c%d"])
def test_any_folder_name_will_do(data_dir: Path, name: str) -> None:
    folder = data_dir / name
    folder.mkdir()
    try:
        with embedded.start_postgres(folder), embedded.start_valkey(folder):
            remember(folder, "kept")
            after = remembered(folder)
    finally:
        shutil.rmtree(addresses.socket_directory(folder))

    assert after == ["kept"]


def test_addresses_are_the_same_in_every_process(data_dir: Path) -> None:
    deep = data_dir / ("deep" * 30)
    script = (
        "import contextd.embedded as e, pathlib, sys; print(e.redis_url(pathlib.Path(sys.argv[1])))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script, str(deep)],
        env={**os.environ, "TMPDIR": str(data_dir)},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert printed.stdout.strip() == embedded.redis_url(deep)


def test_two_cannot_claim_one_folder(data_dir: Path) -> None:
    with (
        embedded.claim(data_dir),
        pytest.raises(
            embedded.StartError, match=r"another contextd is running .* CONTEXTD_DATA_DIR"
        ),
        embedded.claim(data_dir),
    ):
        pass


def test_a_folder_that_cannot_be_made_is_named() -> None:
    with (
        pytest.raises(embedded.StartError, match=r"/dev/null/data .*CONTEXTD_DATA_DIR"),
        embedded.claim(Path("/dev/null/data")),
    ):
        pass


def test_a_folder_of_another_version_says_what_to_do(used_dir: Path) -> None:
    (used_dir / "postgres" / "PG_VERSION").write_text("17\n")

    with pytest.raises(
        embedded.StartError, match=r"was made by PostgreSQL 17, this is 18: dump it with"
    ):
        embedded.start_postgres(used_dir)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a user")
def test_root_makes_a_system_user_that_cannot_log_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system_user, "NAME", "contextd-test")
    try:
        made, found = system_user.account(), system_user.account()
        shell = pwd.getpwnam("contextd-test").pw_shell
    finally:
        subprocess.run(["/usr/sbin/userdel", "contextd-test"], check=True)

    assert made == found
    assert shell == "/usr/sbin/nologin"
    assert capsys.readouterr().err.count("created system user contextd-test") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to open folders")
def test_root_opens_folders_to_be_passed_and_no_more(data_dir: Path) -> None:
    closed = data_dir / "closed"
    closed.mkdir(mode=0o700)
    already_open = data_dir.stat().st_mode

    system_user.let_pass(closed / "postgres")

    assert stat.S_IMODE(closed.stat().st_mode) == 0o701
    assert data_dir.stat().st_mode == already_open


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_folder_of_another_user_says_what_to_do(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir()
    os.chown(data_dir / "postgres", 12345, 12345)

    with pytest.raises(
        embedded.StartError, match=r"belongs to user 12345, not to .*: start contextd as"
    ):
        embedded.start_postgres(data_dir)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_said(data_dir: Path) -> None:
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=20m", "none", data_dir], check=True)
    try:
        with (
            pytest.raises(embedded.StartError, match=r"the disk of .* is full"),
            embedded.claim(data_dir),
        ):
            pass
        with pytest.raises(embedded.StartError, match=r"initdb ended .*: the disk is full"):
            embedded.start_postgres(data_dir)
    finally:
        subprocess.run(["/bin/umount", data_dir], check=True)


def test_a_damaged_file_of_valkey_is_said(data_dir: Path) -> None:
    with embedded.start_valkey(data_dir):
        pass
    next((data_dir / "valkey").rglob("*.manifest")).write_text("nonsense\n")

    with pytest.raises(
        embedded.StartError, match=r"Valkey ended with exit code 1: .*AOF.*valkey\.log"
    ):
        embedded.start_valkey(data_dir)


def test_a_long_wait_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "_PROGRESS_SECONDS", 0)
    looks = iter([False, False, True])

    with Program("Postgres", ["sleep", "60"], []).start() as process:
        process.wait_until(lambda: next(looks))

    assert "Still waiting for Postgres" in capsys.readouterr().err
