"""What programs do to clusters, containers, infrastructure and cloud accounts."""

import re

from troubleshoot.commands.rules import (
    LOOKING,
    command_words,
    first_of,
    unless_looking,
    with_options,
    with_words,
)
from troubleshoot.commands.shell import Invocation


def synchronizes(invocation: Invocation) -> str | None:
    deletes = any(option.startswith("--delete") for option in invocation.options)
    if not deletes or "-n" in invocation.options:
        return None
    return "it deletes at the target what the source does not have"


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


CLUSTER = first_of(
    with_words("it deletes objects of the cluster, and what they own", "delete"),
    with_words("it moves everything off the node", "drain"),
    replaces_by_force,
    patches_finalizers,
    evicts,
)
CONTAINERS = first_of(
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
    lambda invocation: (
        "it deletes the volumes with the data in them"
        if "down" in invocation.operands and {"-v", "--volumes"} & invocation.options
        else None
    ),
)


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
# Options of these that take no value; behind any other the next word is one.
_CLOUD_FLAGS = {
    "--quiet", "--recursive", "--yes", "--force", "--debug", "--verbose", "--no-verify-ssl",
    "--no-paginate", "--no-sign-request", "--no-cli-pager", "--only-show-errors", "--no-wait",
    "--dryrun", "--async", "--app-only",
}  # fmt: skip
_CLOUD_REMOVES = {"rb", "rm", "pg:reset"}


def cloud(invocation: Invocation) -> str | None:
    options = {word for word in invocation.arguments if word.startswith("--") and "=" not in word}
    for word in invocation.words(options - _CLOUD_FLAGS):
        verb = word.split("-")[0].split(":")[-1]
        if verb in {"delete", "terminate", "purge", "destroy", "remove"} or word in _CLOUD_REMOVES:
            return "it deletes resources of the cloud account"
        if verb in LOOKING | {"read", "filter", "head", "lookup", "scan", "query", "wait", "tail"}:
            return None
    return synchronizes(invocation)
