"""The upstreams of `make soak`: how each is added, killed and counted."""

import asyncio
import contextlib
import os
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import psutil

from benchmarks import containers
from benchmarks.upstream import COMMAND
from tests.gateway.engine import docker

RUN = f"soak-{os.getpid()}"
"""Part of the command line of all servers of this run, and of the names of its containers."""

DOCKER = "docker exec"
PROCESSES, CONTAINERS = "processes", "containers"
AWAY_SECONDS = (0.1, 3)
"""Seconds, minimum and maximum, until the HTTP server is started again."""
RARELY_CRASHING = {"echo": 2000, "add": 2000, "crash": 1}
OFTEN_CRASHING = {"echo": 20, "add": 20, "crash": 1}
CALM = {"echo": 1, "add": 1}

KEEPERS = ("sleep ", "[sleep] <defunct>", "sh -c trap ")
"""Beginnings of the commands that only keep a container running."""
CONTAINER_SHARE = 0.4
"""Share of the kills in an ensured container that are of the whole container."""
# The brackets keep the script from finding itself.
KILL = """
grep -l -- "[-]-name=$1" /proc/[0-9]*/cmdline 2>/dev/null |
  busybox shuf -n 1 | busybox cut -d / -f 3 | busybox xargs kill -9
"""


@dataclass(frozen=True)
class Victim:
    """An upstream: words of `gateway add`, and relative frequencies of calls of its tools."""

    namespace: str
    transport: str
    words: list[str]
    tools: Mapping[str, int]
    kill: Callable[[], str]
    """Kill one at random; return of which kind, or an empty string if none runs at the moment."""
    count: Callable[[], int]
    """Count what the gateway runs of it."""
    is_ensured: bool = False
    """Whether contextd creates its container."""


def over_stdio(namespace: str, tools: Mapping[str, int]) -> Victim:
    words = ["--command", *COMMAND, name(namespace)]
    kill, count = partial(kill_process, namespace), lambda: len(processes_of(namespace))
    return Victim(namespace, "stdio", words, tools, kill, count)


def over_http(port: int) -> Victim:
    words = ["--url", f"http://127.0.0.1:{port}/mcp"]
    kill = partial(kill_process, "web")
    return Victim("web", "HTTP", words, RARELY_CRASHING, kill, lambda: 0)


def in_container(namespace: str, tools: Mapping[str, int]) -> Victim:
    """Return an upstream in a container that runs all the time."""
    kill, count = partial(kill_inside, namespace), partial(count_in, namespace)
    return Victim(namespace, DOCKER, words_in_container(namespace), tools, kill, count)


def in_ensured_container(namespace: str, tools: Mapping[str, int]) -> Victim:
    """Return an upstream whose container contextd creates and starts."""
    image = ["--image", containers.IMAGE, "--isolation", "shared"]
    words = [*image, *words_in_container(namespace)]
    kill, count = partial(kill_inside_or_whole, namespace), partial(count_in, namespace)
    return Victim(namespace, DOCKER, words, tools, kill, count, is_ensured=True)


def words_in_container(namespace: str) -> list[str]:
    command = [*containers.COMMAND, name(namespace)]
    return ["--container", container_of(namespace), "--command", *command]


def name(namespace: str) -> str:
    """Return the argument by which processes of an upstream are found."""
    return f"--name={RUN}-{namespace}"


def container_of(namespace: str) -> str:
    return f"{RUN}-{namespace}"


def processes_of(namespace: str) -> list[psutil.Process]:
    """Return those on this machine, which may include those in containers."""
    return [
        one
        for one in psutil.process_iter(["cmdline"])
        if any(word.startswith(name(namespace)) for word in one.info["cmdline"] or [])
    ]


def kill_process(namespace: str) -> str:
    with contextlib.suppress(IndexError, psutil.NoSuchProcess):
        random.choice(processes_of(namespace)).kill()  # noqa: S311
        return PROCESSES
    return ""


async def keep_serving(port: int) -> None:
    """Run the HTTP server; start it again whenever it ends."""
    command = [*COMMAND, name("web"), "--http", f"--port={port}"]
    while True:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            await process.wait()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        await asyncio.sleep(random.uniform(*AWAY_SECONDS))  # noqa: S311


def kill_inside(namespace: str) -> str:
    script = ["sh", "-c", KILL, "kill", f"{RUN}-{namespace}"]
    return PROCESSES if has_done("exec", container_of(namespace), *script) else ""


def kill_inside_or_whole(namespace: str) -> str:
    if random.random() > CONTAINER_SHARE:  # noqa: S311
        return kill_inside(namespace)
    act = random.choice((["kill"], ["rm", "--force"]))  # noqa: S311
    return CONTAINERS if has_done(*act, container_of(namespace)) else ""


def has_done(*words: str) -> bool:
    try:
        docker(*words)
    except subprocess.CalledProcessError:
        return False
    return True


def count_in(namespace: str) -> int:
    """Count the processes in a container besides those that keep it; 0 without a container."""
    try:
        lines = docker("top", container_of(namespace), "-eo", "pid,args").splitlines()
    except subprocess.CalledProcessError:
        return 0
    # In no certain order, since process ids begin anew; the keepers' shells fork, too.
    kept = (line.split(maxsplit=1)[1] for line in lines[1:])
    return sum(not one.startswith(KEEPERS) for one in kept)


def left(upstreams: list[Victim]) -> list[str]:
    """Describe the processes and containers that there are."""
    processes = [f"process {one.pid}: {one.info['cmdline']}" for one in processes_of("")]
    counts = {one.namespace: one.count() for one in upstreams if one.transport == DOCKER}
    inside = [
        f"{number} processes in the container of {namespace}"
        for namespace, number in counts.items()
        if number
    ]
    made = [f"container {one}" for one in ensured_containers()] if counts else []
    return [*processes, *inside, *made]


def ensured_containers() -> list[str]:
    """Return the containers of this run that contextd has created."""
    return containers_of_run("--filter", "label=contextd.gateway")


def containers_of_run(*filters: str) -> list[str]:
    named = ("--filter", f"name={RUN}-", "--format", "{{.Names}}")
    return docker("ps", "--all", *named, *filters).splitlines()


@contextlib.contextmanager
def containerised() -> Iterator[list[Victim]]:
    """Yield upstreams in containers of an engine. Raises NoEngine."""
    with containers.engine():
        try:
            running = ("--detach", "--name", container_of("box"), "--network=none")
            docker("run", *running, containers.IMAGE, "sleep", "1000000")
            yield [in_container("box", OFTEN_CRASHING), in_ensured_container("made", CALM)]
        finally:
            for container in containers_of_run():
                docker("rm", "--force", container)
