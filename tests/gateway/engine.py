"""A Docker engine of this test run's own, with one small image that was made here."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.node import FOLDER

BUSYBOX = Path("/bin/busybox")
IMAGE = "mcpbox:test"
START_SECONDS = 60


class NoEngine(Exception):
    """Raised with the reason why no engine can be had here."""


@pytest.fixture(scope="session")
def engine() -> Iterator[None]:
    """Where none can be started, what needs it is skipped and counted as such."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(running())
        except NoEngine as reason:
            pytest.skip(str(reason))
        yield


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Run an engine that has one image; DOCKER_HOST names it meanwhile. Raises NoEngine."""
    if os.geteuid() or not shutil.which("dockerd") or not BUSYBOX.exists():
        raise NoEngine("no Docker engine can be started: needs root, dockerd and busybox-static")
    folder = Path(tempfile.mkdtemp(prefix="contextd-docker-"))
    host = f"unix://{folder}/docker.sock"
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen(command_of(folder, host), stdout=log, stderr=log)
    try:
        os.environ["DOCKER_HOST"] = host
        wait_until_it_answers(daemon, folder / "log")
        make_root(folder / "root")
        import_image(folder / "root", IMAGE)
        yield
    finally:
        os.environ.pop("DOCKER_HOST", None)
        daemon.terminate()
        daemon.wait(START_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def command_of(folder: Path, host: str) -> list[str]:
    """Return a command with its own network, so that no bridge of another engine is deleted."""
    return [
        *("unshare", "--net", "dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none"),
        *("--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec"),
        *("--pidfile", f"{folder}/pid", "--host", host),
    ]


def docker(*words: str) -> str:
    return subprocess.run(
        [shutil.which("docker") or "docker", *words], check=True, capture_output=True, text=True
    ).stdout


def wait_until_it_answers(daemon: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(subprocess.CalledProcessError):
            docker("version")
            return
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise NoEngine(f"dockerd does not start here: {log.read_text()[-500:]}")
        time.sleep(0.2)


def make_root(root: Path) -> None:
    """Make a folder of what a container needs for an upstream: a shell and its programs."""
    for name in ("bin", "tmp", "proc"):
        (root / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, root / "bin/busybox")
    for name in ("sh", "grep", "sleep", "sed", "kill"):
        (root / "bin" / name).symlink_to("busybox")


def import_image(root: Path, name: str) -> None:
    """Make an image of what is in the folder."""
    packed = f"tar -C {root} -c . | docker import - {name}"
    subprocess.run(packed, shell=True, check=True, stdout=subprocess.DEVNULL)  # noqa: S602


@pytest.fixture
def container(engine: None) -> Iterator[str]:
    """One in which Python and Node run, which are the host's."""
    name = "box"
    prefixes = {"/usr", "/lib", "/lib64", sys.base_prefix, str(Path(__file__).parent)}
    if FOLDER.exists():
        prefixes.add(str(FOLDER))
    mounts = [f"--volume={prefix}:{prefix}:ro" for prefix in sorted(prefixes)]
    docker("run", "--detach", "--name", name, "--network=none", *mounts, IMAGE, "sleep", "1000")
    try:
        yield name
    finally:
        docker("rm", "--force", name)
