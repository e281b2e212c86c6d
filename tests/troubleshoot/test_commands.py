"""Destructive commands are recognised by parsing them."""

import pytest

from tests.troubleshoot.commands import DESTRUCTIVE, SAFE
from troubleshoot import knowledge, placeholders
from troubleshoot.commands import dangers

NOT_SEEN = {
    "cmake-stale-cache": "a cache is built again",
    "dns-port-53-taken": "a link is replaced",
    "docker-gpu-driver-missing": "containers are started again",
    "docker-port-already-allocated": "without -v the data stays",
    "git-secret-push-protection": "the reflog keeps the commits",
    "git-merge-conflict": "the reflog keeps the commits",
    "git-unrelated-histories": "the reflog keeps the commits",
    "git-https-authentication": "a password is asked for again",
    "linux-disk-full": "a cache is filled again",
    "linux-filesystem-read-only": "a file system in use is not unmounted",
    "linux-address-in-use": "the process can end in order",
    "mysql-foreign-key": "what a dump holds is not seen",
    "mysql-charset": "what a dump holds is not seen",
    "python-externally-managed": "it overwrites what the system installed",
    "redis-out-of-memory": "keys are lost later, by a setting",
    "ssh-host-key-changed": "the key is asked for again",
}
"""Patterns with steps that people call destructive and no rule does."""


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_what_destroys_is_recognised(command: str) -> None:
    assert dangers(command)


def test_destructive_steps_of_the_patterns_are_recognised() -> None:
    unseen = {
        written.entry.id
        for written in knowledge.read().patterns
        for step in written.entry.fix
        if step.destructive and step.run and not dangers(placeholders.fill(step.run, {}))
    }

    assert unseen <= NOT_SEEN.keys()


@pytest.mark.parametrize("command", SAFE)
def test_what_does_not_is_left_alone(command: str) -> None:
    assert dangers(command) == ()


def test_abbreviated_options_are_recognised() -> None:
    for command in (
        *("git push --forc", "git push --del origin v1", "git reset --har HEAD~1"),
        *("git checkout --forc main", "git clean --for", "chown --recurs ann /etc"),
        *("umount --laz /mnt", "wipefs --al /dev/sdb", "dpkg --pur nginx"),
    ):
        assert dangers(command), command
    assert dangers("rm --recurs build") == dangers("rm --recursive build")


def test_a_warning_says_what_is_lost() -> None:
    assert dangers("rm -rf build dist") == ("it deletes build dist with all that is in there",)
    assert dangers("git push --force") == (
        "it replaces history at the remote; commits of others may be lost",
    )
