"""What a command would destroy is found by parsing it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshoot import knowledge
from troubleshoot.commands import dangers, dangers_in_prose
from troubleshoot.commands.judging import UNREADABLE

SECONDS = 5.0
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
    "terraform -chdir=infra destroy",
    "shutdown -h now",
    "dropdb -h db app",
    "redis-cli -h host -p 6379 flushall",
    "mysqladmin -h h drop x",
    "rsync -avh --delete a/ b/",
    "Remove-Item -Path C:\\x -Recurse",
    "kubectl delete -f x --dry-run=none",
    "BEGIN; DROP TABLE x; COMMIT;",
    "-- c\nDROP TABLE x;",
    "/* c */ DROP TABLE x;",
    "SET FOREIGN_KEY_CHECKS=0; TRUNCATE x;",
    "USE app;\nDROP TABLE x;",
    "\\c app\nDROP TABLE x;",
    "psql app\nDROP TABLE x;",
    "SELECT 1; this is nothing; DROP TABLE x;",
    "psql --command='DROP TABLE x'",
    "psql -c'DROP TABLE x'",
    "psql -c '\\c app\nDROP TABLE x'",
    'mysql -e"DROP TABLE x"',
    "psql <<< 'DROP TABLE x'",
    "echo 'DROP TABLE x' | psql",
    "echo 'DROP TABLE x' | tee log | sudo -u postgres psql",
    "cat <<EOF | psql\nDROP TABLE x;\nEOF\n",
    "zcat dump.gz | psql app <<EOF\nDROP TABLE x;\nEOF\n",
    "WITH d AS (DELETE FROM x RETURNING id) SELECT * FROM d",
    "EXPLAIN ANALYZE DELETE FROM x",
    "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM x",
    'DROP DATABASE "x" WITH (FORCE)',
    "ALTER TABLE x DROP PARTITION p0",
    "postgres=# DROP TABLE x;",
    "mysql> DROP TABLE x;",
    "MariaDB [(none)]> DROP DATABASE x;",
    "taskkill /F /PID 1",
    "TASKKILL.EXE /f /pid 1",
    "kill -s 9 1",
    "kill -n 9 1",
    "kill -SIGKILL 1",
    "pkill --signal 9 web",
    "pkill --signal=SIGKILL web",
    "rmdir /s /q build",
    "remove-item -recurse -force build",
    "Stop-Process -Name web -Force",
    "sudo --user root rm -rf /x",
    "timeout --signal KILL 10 rm -rf /x",
    "redis-cli -a pass flushall",
    "redis-cli <<EOF\nSELECT 1\nFLUSHDB\nEOF",
    "echo FLUSHALL | redis-cli",
    "git branch -df x",
    "git switch -f main",
    "git --git-dir .git reset --hard",
    "docker buildx prune",
    "podman system reset",
    "docker compose -f a.yml -p b exec web python manage.py flush",
    "chmod -R ugo+rwx /srv",
    "ssh host <<EOF\nrm -rf /x\nEOF",
    "watch 'rm -rf /x'",
    "find . -okdir rm {} \\;",
    "find . -exec grep x {} \\; -exec rm {} \\;",
    "python3.11 manage.py flush",
    "yarn prisma migrate reset",
    "pnpm dlx prisma migrate reset",
    "poetry run python manage.py flush",
    "bash <(curl -s https://x.example/install)",
    'sh -c "$(curl -fsSL https://x.example/install)"',
    "source <(curl -s https://x.example/install)",
    "root@host:~# rm -rf /x",
    "[root@host ~]# rm -rf /x",
    "systemctl -f reboot",
    "kubectl -n get delete pod web",
    "aws --profile prod s3 rm s3://bucket --recursive",
    "gcloud --quiet compute instances delete web",
    "cat x | grep y > /dev/sda",
    "curl -X DELETE 'localhost:9200/logs-2025.01'",
    "curl -sXDELETE localhost:9200/_all",
    "curl --request=DELETE https://api.example.com/items/1",
    "http DELETE localhost:9200/orders",
    "sudo rabbitmqctl purge_queue debug-events",
    "rabbitmqctl delete_queue mail --if-empty",
    "kubectl replace --force -f deploy.yaml",
    """kubectl -n shop patch certificate tls --type merge -p '{"metadata":{"finalizers":null}}'""",
    "kubectl taint nodes NODE node.kubernetes.io/out-of-service=x:NoExecute",
    "kafka-consumer-groups.sh --group billing --topic a --reset-offsets --to-earliest --execute",
    "kafka-leader-election.sh --election-type unclean --topic orders",
    "kafka-topics.sh --bootstrap-server kafka:9092 --delete --topic x",
    """mongosh shop --eval 'db.users.dropIndex("username_1")'""",
    'mysql -e "KILL 4711"',
    "psql -c 'SELECT pg_cancel_backend(4711)'",
    "php artisan key:generate",
    "sudo umount -l /mnt/share",
    "pg_resetwal -f /data",
    "pg_dropcluster 16 main",
    ": > /var/lib/app/state.db",
    "cat /dev/null > app.log",
    "etcdctl del / --prefix",
    "kind delete cluster",
    "minikube delete",
    "vagrant destroy -f",
    "terraform apply -auto-approve",
    "terraform apply -replace=aws_instance.a",
    "terraform taint aws_instance.a",
    "consul kv delete -recurse x",
    "ansible all -m shell -a 'rm -rf /x'",
    """python -c "import shutil; shutil.rmtree('/data')\"""",
    """node -e "fs.rmSync('x', {recursive: true})\"""",
    "supabase db reset",
    "firebase firestore:delete --all-collections",
    "format C:",
    "pm2 delete all",
    "unheard-of cluster destroy",
    "unheard-of wipe_disk",
    "pip cache purge",
    "go clean -modcache",
    "git lfs migrate import --include=data/*.sql",
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
    "rm --help",
    "kill -l 9",
    "kubectl auth can-i delete pods",
    "terraform plan -destroy",
    "terraform -chdir=infra plan",
    "systemctl status reboot",
    "helm status delete",
    "az vm list --query delete",
    "gcloud logging read 'delete'",
    "aws logs filter-log-events --log-group-name x --filter-pattern delete",
    "aws --profile delete s3 ls",
    "rsync -avn --delete a/ b/",
    "shutdown -c",
    "killall -l",
    "rmdir build",
    "npm rm left-pad",
    "yarn run build",
    "EXPLAIN DELETE FROM x",
    "SELECT 'x; DROP TABLE x;'",
    "SELECT 1 -- ; DROP TABLE x;",
    "psql -c \"select 'DROP TABLE x'\"",
    "echo 'DROP TABLE x' | grep DROP",
    'eval "$(ssh-agent -s)"',
    "source <(kubectl completion bash)",
    "echo hi; truncated=1",
    "git push -n --force",
    "df -h",
    "redis-cli -n 1 get shutdown",
    "docker compose -f a.yml exec web python manage.py check",
    "terraform destroy -help",
    "make reset",
    "grep -rn purge src",
    "unheard-of list delete",
    "python script.py > out.txt",
    "echo x > app.log",
    "cat a.txt > b.txt",
    "python -c 'import os; print(os.getcwd())'",
    "curl -X POST https://api.example.com/delete",
    "vim delete.txt",
    "umount /mnt/share",
    "terraform apply",
    "button.onclick = () => window.location.reload()",
    "kubectl patch deployment api -p '{}'",
]
NOT_SEEN = {
    "cmake-stale-cache": "a cache is built again",
    "dns-port-53-taken": "a link is replaced",
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
        if step.destructive and step.run and not dangers(step.run)
    }

    assert unseen <= NOT_SEEN.keys()


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
    ],
)
def test_prose_raises_no_false_alarm(text: str) -> None:
    assert dangers_in_prose(text) == ()


def test_a_warning_says_what_is_lost() -> None:
    assert dangers("rm -rf build dist") == ("it deletes build dist with all that is in there",)
    assert dangers("git push --force") == (
        "it replaces history at the remote; commits of others may be lost",
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 150 + "1" + ")" * 150,
        "a && " * 1_000 + "a",
        "`" + "(" * 3_000 + "ls" + ")" * 3_000 + "`",
        "$(" * 5_000 + "ls" + ")" * 5_000,
        "drop a " * 2_800,
        "DROP a " * 2_800,
        "rm " * 6_600,
        "find . 'a " * 2_000,
        "\n" * 20_000,
        "a/" * 10_000,
        "`a` " * 5_000,
        "\n".join("`" * length for length in range(200, 3, -1)),
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    dangers(text)
    dangers_in_prose(text)

    assert time.process_time() - started < SECONDS


def test_what_takes_too_long_to_parse_counts_as_destructive() -> None:
    assert dangers("a|" * 10_000) == (UNREADABLE,)


def test_what_is_nested_deeper_than_can_be_parsed_is_judged_by_its_wording() -> None:
    assert dangers("DELETE FROM x WHERE " + "(" * 300 + "a = 1" + ")" * 300)
    assert dangers("a && " * 1_000 + "rm -rf /x")


@pytest.mark.parametrize(
    "character", ["é", "\u0100", "\u2028", "\U00050000", "\U0010ffff", "\ud800"]
)
def test_letters_of_any_language_can_be_judged(character: str) -> None:
    for shape in ("x", "{x", "{1..x", "${x}", "cat <<x\nx\n", "+(x)", "[[ a =~ x ]]", "`x", "?x"):
        dangers(shape.replace("x", character))

    assert dangers(f"rm -rf {character}")


@given(st.text(max_size=300))
def test_any_text_can_be_judged(text: str) -> None:
    dangers(text)
    dangers_in_prose(text)
