"""Commands that other programs start are judged too."""

import pytest

from troubleshoot.commands import dangers


@pytest.mark.parametrize(
    "command",
    [
        'sudo -iu postgres psql -c "DROP DATABASE shop"',
        "sudo -iu postgres dropdb shop",
        "sudo -Hu www-data rm -rf /var/www",
        "sudo -nu root rm -rf /x",
        "find . -print0 | xargs -0rn 1 rm -rf",
        'env -S "rm -rf /x"',
        "parallel rm -rf ::: a b",
        "parallel 'rm -rf {}' ::: a b",
        "runuser -u postgres -- dropdb shop",
        "runuser -u postgres dropdb shop",
        "gosu postgres dropdb shop",
        "chroot /mnt rm -rf /x",
        "flock f rm -rf /x",
        "flock f -c 'rm -rf /x'",
        "vagrant ssh -c 'sudo rm -rf /x'",
        "gcloud compute ssh web --command='sudo rm -rf /x'",
        "fd -e log -x rm",
        "trap 'rm -rf /x' EXIT",
        "bash -c -- 'rm -rf /x'",
        "docker compose exec php rm -rf var/cache",
        "docker compose exec php bin/console doctrine:database:drop --force",
        "docker exec -u root vault rm -rf /data",
        "docker run --rm -v x:/x python rm -rf /x",
        "docker run --unheard-of alpine rm -rf /x",
        "python -m django flush",
        "wsl rm -rf /x",
        "pkexec rm -rf /x",
        "nix-shell --run 'rm -rf /x'",
        "git submodule foreach git reset --hard",
        "git submodule foreach 'git reset --hard'",
        "git rebase --exec 'rm -rf x' main",
        'heroku run -a shop "rails db:drop"',
    ],
)
def test_what_is_started_is_judged(command: str) -> None:
    assert dangers(command)


@pytest.mark.parametrize(
    "command",
    [
        'sudo -iu postgres psql -c "SELECT 1"',
        "sudo -Hu rm ls /var/www",
        "xargs -0rn 1 ls",
        'env -S "ls -l /x"',
        "parallel ls ::: rm",
        "gosu postgres psql -l",
        "flock rm ls",
        "vagrant ssh -c 'ls /x'",
        "fd -e log -x ls",
        "trap 'echo rm' EXIT",
        "trap - EXIT",
        "docker compose exec php ls var/cache",
        "docker exec node npm rm left-pad",
        "docker run --rm -v x:/x python ls /x",
        "grep -- rm -rf",
        "npm test -- -t delete",
        "git log -- rm",
        "git submodule foreach git status",
        "git rebase --exec 'make test' main",
        'heroku run -a shop "rails db:migrate"',
        "python -m json.tool rm",
    ],
)
def test_what_is_started_raises_no_false_alarm(command: str) -> None:
    assert dangers(command) == ()


@pytest.mark.parametrize(
    "command",
    [
        "powershell -Command Remove-Item -Recurse -Force C:\\x",
        'powershell -Command "Remove-Item -Recurse -Force C:\\x"',
        'powershell -command "Remove-Item -Recurse -Force x"',
        'powershell "Remove-Item -Recurse -Force x"',
        "powershell.exe -NoProfile -ExecutionPolicy Bypass Remove-Item x",
        '"C:\\Windows\\System32\\cmd.exe" /c del *.*',
        'cmd /C "del /s /q C:\\temp"',
        "cmd /c del /s /q C:\\temp",
        "cmd.exe /c rd /s /q build",
        "Get-ChildItem *.log | Remove-Item",
        "Get-ChildItem *.log | ForEach-Object { Remove-Item $_ -Force }",
        "rmdir -Recurse -Force build",
        "ri -Recurse -Force x",
        "Clear-Content app.log",
    ],
)
def test_commands_of_windows_are_judged(command: str) -> None:
    assert dangers(command)


@pytest.mark.parametrize(
    "command",
    [
        "powershell -Command Get-Item C:\\x",
        'powershell "Get-ChildItem -Recurse"',
        "powershell -File delete.ps1",
        "cmd /C dir",
        "Get-ChildItem *.log | Select-String remove",
        "Get-ChildItem *.log | ForEach-Object { Get-Item $_ }",
        "Get-Content app.log",
        "ri String",
    ],
)
def test_commands_of_windows_raise_no_false_alarm(command: str) -> None:
    assert dangers(command) == ()
