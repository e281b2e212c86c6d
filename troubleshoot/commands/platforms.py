"""What commands lose in clusters, containers, infrastructure and cloud accounts."""

import re
from dataclasses import replace
from itertools import takewhile

from troubleshoot.commands.rules import (
    command_words,
    first_of,
    unless_looking,
    with_options,
    with_words,
)
from troubleshoot.commands.shell import Invocation
from troubleshoot.commands.verbs import by_platform_verb


def synchronizes(invocation: Invocation) -> str | None:
    options = invocation.options
    if "-n" in options:
        return None
    if "--remove-source-files" in options:
        return "it deletes the files at the source"
    deletes = "--del" in options or any(option.startswith("--delete") for option in options)
    return "it deletes at the target what the source does not have" if deletes else None


def replaces_by_force(invocation: Invocation) -> str | None:
    forced = "--force" in invocation.options and "replace" in command_words(invocation)[:1]
    return "it deletes the objects before it creates them again" if forced else None


_FINALIZERS = re.compile(r"finalizers\W{0,5}(?:null|\[\s*\])")


def patches_finalizers(invocation: Invocation) -> str | None:
    given = any(_FINALIZERS.search(word) for word in invocation.arguments)
    return "what a finalizer would clean up stays behind" if given else None


def evicts(invocation: Invocation) -> str | None:
    taints = "taint" in command_words(invocation)[:1]
    evicting = any(word.endswith(":NoExecute") for word in invocation.operands)
    return "it ends everything that runs on the node" if taints and evicting else None


def scales_to_zero(invocation: Invocation) -> str | None:
    counts = " ".join(invocation.arguments).replace("=", " ")
    scales = "scale" in command_words(invocation)[:1]
    return "it ends all instances" if scales and _TO_ZERO.search(counts) else None


_TO_ZERO = re.compile(r"--replicas 0(?!\S)")
CLUSTER = first_of(
    with_words("it deletes objects of the cluster, and what they own", "delete"),
    with_words("it moves everything off the node", "drain"),
    replaces_by_force,
    patches_finalizers,
    evicts,
    scales_to_zero,
    with_options("it deletes objects that the files do not name", "--prune"),
)


def takes_down(invocation: Invocation) -> str | None:
    if "down" not in invocation.operands:
        return None
    if {"-v", "--volumes"} & invocation.options:
        return "it deletes the volumes with the data in them"
    return "it deletes images" if "--rmi" in invocation.options else None


_OF_CONTAINERS = first_of(
    with_words(
        "it deletes containers, networks, images or build cache that nothing uses now",
        *("system prune", "container prune", "image prune", "network prune", "builder prune"),
        *("buildx prune", "pod prune", "system reset"),
    ),
    with_words(
        "it deletes volumes with the data in them",
        *("volume rm", "volume remove", "volume prune"),
    ),
    with_words("it deletes containers or images", "rm", "rmi", "container rm", "image rm"),
    with_words("the process cannot save its work or clean up", "kill", "container kill"),
    takes_down,
)


def handles_containers(invocation: Invocation) -> str | None:
    """Judge what stands before an image or a container, and not the command that runs in it."""
    own = takewhile(lambda word: word not in {"create", "exec", "run"}, invocation.arguments)
    return _OF_CONTAINERS(replace(invocation, arguments=tuple(own)))


def replaces_resources(invocation: Invocation) -> str | None:
    named = any(word.lstrip("-").startswith("replace=") for word in invocation.arguments)
    return "what is named is destroyed and created again" if named else None


INFRASTRUCTURE = first_of(
    with_words("it destroys what is deployed", "destroy", "workspace delete"),
    with_words("it forgets resources, or a lock that others may hold", "state rm", "force-unlock"),
    unless_looking(with_options("it destroys what is deployed", "-destroy")),
    with_options("it changes what is deployed without asking", "-auto-approve", "--auto-approve"),
    with_words("what is named is destroyed and created again", "taint"),
    with_words("it overwrites what is known of the deployment", "state push"),
    replaces_resources,
)
CLOUD = first_of(synchronizes, by_platform_verb)
