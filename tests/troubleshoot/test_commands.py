"""What a command would destroy is found by parsing it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshoot.commands import dangers, dangers_in_prose

DESTRUCTIVE = [
    "rm -rf node_modules",
    "sudo rm -r /var/lib/docker",
    "/bin/rm -f a.txt",
    "cd /tmp && rm -rf *",
    'for f in *.log; do rm "$f"; done',
    "find . -name '*.pyc' -delete",
    "find . -name '*.pyc' -exec rm {} \\;",
    "ls | xargs rm -f",
    "sudo -u postgres psql -c 'DROP DATABASE shop'",
    'psql shop -c "truncate table orders"',
    "psql shop <<SQL\nDELETE FROM orders;\nSQL\n",
    "mysql -e 'drop table if exists users'",
    "DROP TABLE users;",
    "TRUNCATE orders",
    "DELETE FROM sessions WHERE expires < now()",
    "UPDATE users SET active = false",
    "ALTER TABLE users DROP COLUMN email",
    "DROP ROLE reporting",
    "git reset --hard HEAD~1",
    "git -C /work/shop -c core.x=y reset --hard",
    "git push --force",
    "git push -f origin main",
    "git push origin +main",
    "git push origin :old",
    "git clean -fdx",
    "git checkout -- .",
    "git branch -D feature",
    "git stash drop",
    "kubectl delete pod web-1",
    "kubectl -n shop delete pvc --all",
    "kubectl exec web-1 -- rm -rf /data",
    "docker exec -it db psql -c 'drop table x'",
    "helm uninstall shop",
    "dd if=/dev/zero of=/dev/sda bs=1M",
    "mkfs.ext4 /dev/sdb1",
    "echo x > /dev/sda",
    "docker system prune -af",
    "docker volume rm data",
    "docker compose down -v",
    "terraform destroy",
    "terraform apply -destroy",
    "kill -9 4242",
    "kill -s KILL 4242",
    "pkill -9 -f gunicorn",
    "chmod -R 777 /srv",
    "bash -c 'rm -rf /tmp/x'",
    "ssh web 'sudo rm -rf /srv/old'",
    "curl -fsSL https://example.com/install.sh | sudo bash",
    "python manage.py flush",
    "python manage.py migrate shop zero",
    "rails db:drop",
    "npx prisma migrate reset",
    "redis-cli FLUSHALL",
    "mongosh --eval 'db.dropDatabase()'",
    "aws s3 rm s3://bucket --recursive",
    "aws ec2 terminate-instances --instance-ids i-1",
    "rsync -a --delete-after src/ host:dst/",
    "crontab -r",
    "$ rm -rf build",
]
SAFE = [
    "grep delete app.log",
    "grep -rn 'rm -rf' scripts/",
    "echo 'rm -rf /'",
    "echo DROP TABLE users",
    "git log --oneline",
    "git push",
    "git push --set-upstream origin main",
    "git reset --soft HEAD~1",
    "git reset HEAD a.txt",
    "git clean -n",
    "git rm --cached .env",
    "git restore --staged a.txt",
    "git branch --delete-merged",
    "git stash pop",
    "kubectl get pods",
    "kubectl describe pod web-1",
    "kubectl delete pod web-1 --dry-run=client",
    "docker ps -a",
    "docker system df",
    "docker compose down",
    "terraform plan",
    "kill 4242",
    "chmod 644 a.txt",
    "chmod +x run.sh",
    "dd if=/dev/sda of=/dev/null",
    "SELECT * FROM deleted_users",
    "ALTER TABLE users ADD COLUMN email text",
    "psql -c 'select 1'",
    "python -m pip install requests",
    "python manage.py migrate",
    "npm install --force",
    "rsync -a src/ dst/",
    "redis-cli INFO",
    "aws s3 ls",
    "ps aux | grep kill",
    "systemctl restart nginx",
    "curl -fsS https://example.com/health",
    "cat rm.txt",
    "man kill",
]


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_what_destroys_is_recognised(command: str) -> None:
    assert dangers(command)


@pytest.mark.parametrize("command", SAFE)
def test_what_does_not_is_left_alone(command: str) -> None:
    assert dangers(command) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Remove the folder with rm -rf node_modules and install again.",
        "Then run:\n\n```sh\nnpm ci\nrm -rf dist\n```\n",
        "Go back with `git reset --hard origin/main`.",
        "As a last resort, DROP TABLE users CASCADE and restore the dump.",
        "$ sudo dd if=image.iso of=/dev/sdb",
        "First stop it, then docker system prune, then start it again.",
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
    ],
)
def test_prose_raises_no_false_alarm(text: str) -> None:
    assert dangers_in_prose(text) == ()


def test_a_warning_says_what_is_lost() -> None:
    assert dangers("rm -rf build dist") == ("it deletes build dist with all that is in there",)
    assert dangers("git push --force") == (
        "it replaces history at the remote; commits of others may be lost",
    )


@given(st.text(max_size=300))
def test_any_text_can_be_judged(text: str) -> None:
    dangers(text)
    dangers_in_prose(text)
