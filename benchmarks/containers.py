"""Containers for a measurement: an engine, and an image in which the test server runs."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks import server
from tests.gateway.engine import BUSYBOX, NoEngine, docker, import_image, make_root
from tests.gateway.engine import running as engine_of_run

IMAGE = f"contextd-soak:{os.getpid()}"
INTERPRETER = os.path.realpath(sys.executable)
COMMAND = [INTERPRETER, "/srv/misbehaving.py"]
"""The test server in a container of that image."""


@contextmanager
def engine() -> Iterator[None]:
    """Ensure that there are an engine, of this run or the machine's, and the image.

    Raises NoEngine. DOCKER_HOST names the engine meanwhile.
    """
    if sys.platform != "linux" or not BUSYBOX.exists():
        raise NoEngine("the image is made of this machine's Python; it needs Linux and busybox")
    with ExitStack() as stack:
        try:
            stack.enter_context(engine_of_run())
        except NoEngine:
            if not (host := host_of_running_engine()):
                raise
            os.environ["DOCKER_HOST"] = host
        stack.enter_context(image())
        yield


def host_of_running_engine() -> str:
    try:
        docker("version")
        return docker("context", "inspect", "--format", "{{.Endpoints.docker.Host}}").strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@contextmanager
def image() -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="contextd-image-") as fresh:
        root = Path(fresh) / "root"
        make_root(root)
        copy_python(root)
        for name in ("misbehaving.py", "misbehaving_tools.py"):
            copy(server.ROOT / "tests/gateway" / name, root / "srv" / name)
        import_image(root, IMAGE)
    try:
        yield
    finally:
        docker("image", "rm", "--force", IMAGE)


def copy_python(root: Path) -> None:
    """Copy this interpreter, its standard library and the libraries that they are linked with."""
    library = Path(sysconfig.get_path("stdlib"))
    needless = shutil.ignore_patterns("site-packages", "dist-packages", "test", "config-*")
    shutil.copytree(library, inside(root, library), ignore=needless)
    programs = [INTERPRETER, *map(str, library.glob("lib-dynload/*.so"))]
    linked = subprocess.run(["ldd", *programs], capture_output=True, text=True)  # noqa: S603, S607
    for path in {INTERPRETER, *re.findall(r"(/\S+) \(0x", linked.stdout)}:
        copy(Path(path), inside(root, Path(path)))


def inside(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
