"""Run a program in a container over the Docker Engine API, found through DOCKER_HOST."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import anyio
from aiodocker import Docker
from aiodocker.containers import DockerContainer
from aiodocker.exceptions import DockerError
from aiodocker.execs import Exec
from aiodocker.stream import Stream

from gateway import wire
from gateway.errors import Hopeless, Lost
from gateway.services import Plan
from gateway.supervision import processes
from gateway.supervision.processes import PATIENCE_SECONDS, RUN, Tail
from gateway.wire import Peer, Streams

LABEL = "contextd.gateway"
STDERR = 2
LOOK_SECONDS = 0.05
BAD_REQUEST, NOT_FOUND = 400, 404

# When a client of `docker exec` ends, its program goes on. Every process with the mark $1 in its
# environment is killed: the program and all that it has started, except the runs in $2.
END_MARKED = """
for entry in /proc/[0-9]*; do
  if grep -q "$1" "$entry/environ" 2>/dev/null && ! grep -qE "$2" "$entry/environ"; then
    kill -9 "${entry#/proc/}" 2>/dev/null
  fi
done
:
"""
HAS_PROGRAM = 'command -v "$1" >/dev/null'
STAY = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"]

_open_runs: set[str] = set()
"""The runs of open connections."""


@asynccontextmanager
async def engine() -> AsyncIterator[Docker]:
    """Connect to the engine. Raises Lost when it does not answer, or refuses."""
    try:
        async with connect_to_engine() as docker:
            yield docker
    except DockerError as error:
        kind = Hopeless if error.status == BAD_REQUEST else Lost
        raise kind(f"the Docker engine (DOCKER_HOST) says: {error.message}") from None
    except (aiohttp.ClientError, ValueError, OSError) as error:
        raise Lost(f"the Docker engine does not answer (DOCKER_HOST): {error}") from None


def connect_to_engine() -> Docker:
    try:
        return Docker()
    except AssertionError:  # raised by the library when there is no engine
        raise Lost("there is no Docker engine; DOCKER_HOST says where it is") from None


def mark_of(namespace: str) -> str:
    return (
        f"{processes.mark()}/{namespace}/"  # the slash keeps it from being a prefix of another mark
    )


async def make_ready(plan: Plan) -> None:
    """Ensure that the container runs, and our processes there have connections. Raises Lost."""
    async with engine() as docker:
        container = await ensure_container(docker, plan)
        await ensure_program(container, plan)
        await end_marked(container, f"{processes.MARK}={mark_of(plan.namespace)}", _open_runs)


async def ensure_container(docker: Docker, plan: Plan) -> DockerContainer:
    container = await find_container(docker, plan.container)
    if container and plan.image and await is_of_other_image(container, plan):
        await container.delete(force=True)
        container = None
    if container is None:
        container = await create(docker, plan)
    about = await container.show()
    if not about["State"]["Running"]:
        await ensure_started(container, plan)
    return container


async def find_container(docker: Docker, name: str) -> DockerContainer | None:
    try:
        return await docker.containers.get(name)
    except DockerError as error:
        if error.status != NOT_FOUND:
            raise
        return None


async def is_of_other_image(container: DockerContainer, plan: Plan) -> bool:
    """Return whether we created it, from another image than the plan's."""
    about = await container.show()
    return is_ours(about, plan.namespace) and about["Config"]["Image"] != plan.image


def is_ours(about: dict[str, Any], namespace: str) -> bool:
    return bool((about["Config"]["Labels"] or {}).get(LABEL) == mark_of(namespace))


async def create(docker: Docker, plan: Plan) -> DockerContainer:
    if not plan.image:
        raise Lost(f"there is no container {plan.container}; create it, or name an image")
    try:
        return await docker.containers.create(config_of(plan), name=plan.container)
    except DockerError as error:
        if error.status != NOT_FOUND:
            raise
        raise Hopeless(
            f"the Docker engine says: {error.message}; pull the image, then restart the upstream"
        ) from None


async def ensure_program(container: DockerContainer, plan: Plan) -> None:
    """Raises Hopeless if the container has no such program."""
    execution = await container.exec(
        ["sh", "-c", HAS_PROGRAM, "contextd", plan.command[0]],
        environment=dict(plan.settings),
        workdir=plan.working_directory or None,
    )
    said = await output_of(execution)
    if (await execution.inspect())["ExitCode"]:
        raise Hopeless(
            f"{plan.command[0]!r} cannot be run in the container {plan.container}; "
            f"install it there or correct the command, then restart the upstream\n{said}".strip()
        )


async def ensure_started(container: DockerContainer, plan: Plan) -> None:
    if not plan.image:
        raise Lost(f"the container {plan.container} does not run; start it, or name an image")
    await container.start()


def config_of(plan: Plan) -> dict[str, Any]:
    """Return the configuration of a container that only idles."""
    return {"Image": plan.image, "Entrypoint": STAY, "Labels": {LABEL: mark_of(plan.namespace)}}


async def stop_processes(namespace: str, name: str) -> None:
    """Kill our processes in a container; stop it if we created it. Raises Lost."""
    async with engine() as docker:
        container = await find_container(docker, name)
        about = await container.show() if container else None
        if container is None or about is None or not about["State"]["Running"]:
            return
        if is_ours(about, namespace):
            await container.stop(t=PATIENCE_SECONDS)
        else:
            await end_marked(container, f"{processes.MARK}={mark_of(namespace)}")


async def remove(namespace: str, name: str) -> None:
    """Kill our processes in a container; delete it if we created it. Raises Lost."""
    await stop_processes(namespace, name)
    async with engine() as docker:
        container = await find_container(docker, name)
        if container and is_ours(await container.show(), namespace):
            await container.delete(force=True)


async def end_marked(
    container: DockerContainer, mark: str, spared_runs: Collection[str] = ()
) -> None:
    """Kill the processes with the mark, except those of the spared runs."""
    spared = f"{RUN}=({'|'.join(['none', *spared_runs])})"
    execution = await container.exec(["sh", "-c", END_MARKED, "contextd", mark, spared])
    await output_of(execution)


async def output_of(execution: Exec) -> str:
    """Return the output until the program ends."""
    written = b""
    async with execution.start(detach=False) as stream:
        while message := await stream.read_out():
            written += message.data
    return written.decode(errors="replace")


@asynccontextmanager
async def running(plan: Plan, tail: Tail, ended: anyio.Event) -> AsyncIterator[Streams]:
    run = secrets.token_hex(16)
    _open_runs.add(run)
    try:
        async with run_in_container(run, plan, tail, ended) as streams:
            yield streams
    finally:
        _open_runs.discard(run)


@asynccontextmanager
async def run_in_container(
    run: str, plan: Plan, tail: Tail, ended: anyio.Event
) -> AsyncIterator[Streams]:
    async with engine() as docker:
        container = await docker.containers.get(plan.container)
        execution = await container.exec(
            plan.command,
            stdin=True,
            tty=False,
            environment={**plan.settings, processes.MARK: mark_of(plan.namespace), RUN: run},
            workdir=plan.working_directory or None,
        )
        async with execution.start(detach=False) as stream:
            try:
                async with wire.connected(peer_of(stream, tail), ended) as streams:
                    yield streams
            finally:
                with anyio.CancelScope(shield=True):
                    await end(container, execution, stream, run)


def peer_of(stream: Stream, tail: Tail) -> Peer:
    async def read() -> bytes:
        while message := await stream.read_out():
            if message.stream != STDERR:
                return bytes(message.data)
            tail.read(message.data)
        tail.end()
        return b""

    return Peer(read, stream.write_in, tail.warn)


async def end(container: DockerContainer, execution: Exec, stream: Stream, run: str) -> None:
    """Close its input, as the protocol requires; kill what remains after a grace period."""
    await stream.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await execution.inspect())["Running"]:
                await asyncio.sleep(LOOK_SECONDS)
    await end_marked(container, f"{RUN}={run}")
