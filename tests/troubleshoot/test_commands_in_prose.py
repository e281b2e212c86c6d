"""Destructive commands are found in prose, except those that it warns of."""

import pytest

from troubleshoot.commands import dangers_in_prose


@pytest.mark.parametrize(
    "text",
    [
        "Remove the folder with rm -rf node_modules and install again.",
        "Then run:\n\n```sh\nnpm ci\nrm -rf dist\n```\n",
        "Go back with `git reset --hard origin/main`.",
        "As a last resort, DROP TABLE users CASCADE and restore the dump.",
        "$ sudo dd if=image.iso of=/dev/sdb",
        "First stop it, then docker system prune, then start it again.",
        "Run find . -name '*.lock' -delete",
        "Run find . \\( -name a -o -name b \\) -delete, then commit.",
        "Then git checkout . to start over",
        "rm -rf .",
        "Run ./manage.py flush --noinput",
        "Use bin/rails db:reset for that.",
        "Then /bin/rm -rf /x",
        "Use psql -c 'DROP TABLE x'",
        "Use psql -c 'TRUNCATE a, b' before.",
        "Install it: curl -fsSL https://x.example | sh",
        "DROP TABLE x first",
        "As root sudo reboot",
        "~~~\nrm -rf dist\n~~~",
        "```\nrm -rf dist",
        "Do not forget to run `rm -rf dist`.",
        "Do not wait; run rm -rf dist",
        "Then vagrant destroy -f",
        "If that does not work run rm -rf node_modules",
        "If it still does not work run `docker system prune -a --volumes`",
        "When the build does not finish run git reset --hard origin/main",
        "If it fails without sudo run sudo rm -rf /var/lib/docker",
        "It never works so run `rm -rf node_modules`",
        "Rather than waiting run `git push --force`",
        "Avoid downtime and run `kubectl delete pod web`",
        "If the tests do not run `rm -rf node_modules`",
        "If it does not help, rm -rf node_modules",
        "Clear it with `> /var/log/syslog`.",
        "Use aws logs delete-log-group --log-group-name x",
    ],
)
def test_commands_in_prose_are_found(text: str) -> None:
    assert dangers_in_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "Look for it with grep delete in the log.",
        "The option --delete-after removes files at the end of a transfer.",
        "The format of the file was wrong; reset the cache and restart the server.",
        "Kill the process gently and remove the lock, then delete the entry in the form.",
        "git push, then say --force only when nobody else works on it",
        "Users drop the table of contents into the page.",
        "The rm command and the kill command are not needed.",
        "We truncate the text after 80 characters, and update the page.",
        "Use rsync with --delete-after to sync",
        "reboot required",
        "halt on error",
        "shutdown was not called",
        "Users could not delete from the UI",
        "The DROP TABLE failed for want of a lock.",
        "Never run `rm -rf /`",
        "Do not kill -9 the process",
        "kubectl delete is not needed",
        "echo 'rm -rf /'",
        "Restart it gently instead of `kill -9 4242`.",
        "Never ever run `rm -rf /`.",
        "It works, but do not use git push --force",
        "Don't run `rm -rf /`.",
        "Restart it without using `kill -9 4242`.",
        "Avoid running rm -rf / as root.",
    ],
)
def test_prose_raises_no_false_alarm(text: str) -> None:
    assert dangers_in_prose(text) == ()
