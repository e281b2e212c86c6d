"""Settings from outside are checked at start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from contextd import environment, secret_key
from tests.server import ROOT

MISSING_WITH = {"CONTEXTD_OAUTH_ISSUER": "CONTEXTD_OAUTH_AUDIENCE"}


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("CONTEXTD_HTTP_PORT", "http", "must be a whole number from 1 to 65535"),
        ("CONTEXTD_HTTP_PORT", "70000", "must be a whole number from 1 to 65535"),
        ("CONTEXTD_HTTP_PORT", "80.5", "must be a whole number from 1 to 65535"),
        ("CONTEXTD_WORKERS", "0", "must be a whole number from 1 to 100"),
        ("CONTEXTD_AUDIT_DAYS", "-1", "must be a whole number from 1 to 36500"),
        ("DATABASE_URL", "mysql://me:hunter2@db", "must be an address such as postgresql://"),
        ("DATABASE_URL", "postgresql://me:hunter2@db:port/x", "must be an address such as"),
        ("DATABASE_URL", "postgresql://me:hun[ter2@db/x", "must be an address such as"),
        ("REDIS_URL", "localhost:6379", "must be an address such as redis://"),
        ("EMBEDDING_BASE_URL", "localhost:8000/v1", "must be an address such as https://"),
        ("EMBEDDING_BASE_URL", "http:/host", "must be an address such as https://"),
        ("EMBEDDING_MODEL", "bge-small", "needs EMBEDDING_BASE_URL"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an address such as https://"),
        ("CONTEXTD_ALLOWED_HOSTS", "a.example.com, https://b.example.com", "must be host names"),
        ("CONTEXTD_ALLOWED_HOSTS", "b.example.com:8080", "must be host names"),
        ("CONTEXTD_ALLOWED_ORIGINS", "app.example.com", "must be origins: scheme://host"),
        ("CONTEXTD_ALLOWED_ORIGINS", "https://app.example.com/", "must be origins: scheme://host"),
        ("CONTEXTD_SECRET_KEY", "hunter2", "must have at least 32 characters"),
        ("CONTEXTD_INDEX_ROOTS", "/srv/code, projects", "must be absolute paths"),
        ("CONTEXTD_RATE_LIMITS", "maybe", "must be 'on' or 'off'"),
        ("CONTEXTD_LOG_LEVEL", "loud", "must be 'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        (
            "CONTEXTD_OAUTH_ISSUER",
            "https://login.example.com",
            "to refuse tokens for other servers",
        ),
    ],
)
def test_a_wrong_value_is_one_line_that_says_what_is_wanted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, wanted: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured) as refused:
        environment.read()

    line = str(refused.value)
    assert wanted in line
    assert line.startswith(f"{MISSING_WITH.get(name, name)}: ")
    assert "hunter2" not in line
    assert "^" not in line


@pytest.mark.parametrize(
    ("name", "value", "field", "read"),
    [
        ("CONTEXTD_LOG_LEVEL", "info", "log_level", "INFO"),
        ("CONTEXTD_RATE_LIMITS", "OFF", "rate_limits", "off"),
        ("CONTEXTD_ALLOWED_ORIGINS", "HTTP://[::1]:3000", "allowed_origins", ["http://[::1]:3000"]),
        ("CONTEXTD_INDEX_ROOTS", "/srv/a, /srv/b", "index_roots", [Path("/srv/a"), Path("/srv/b")]),
        ("REDIS_URL", "unix:///run/valkey.sock?db=1", "redis_url", "unix:///run/valkey.sock?db=1"),
        ("CONTEXTD_HTTP_PORT", " 9000 ", "http_port", 9000),
    ],
)
def test_what_is_meant_is_understood(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str, read: object
) -> None:
    monkeypatch.setenv(name, value)

    assert getattr(environment.read(), field) == read


def test_another_model_is_fine_with_a_server_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "bge-small")
    monkeypatch.setenv("EMBEDDING_BASE_URL", "http://localhost:8000/v1")

    assert environment.read().embedding_model == "bge-small"


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "up"],
        ["manage.py", "mcp_stdio"],
        ["-m", "uvicorn", "contextd.asgi:application", "--port", "1"],
        ["-m", "celery", "--app", "contextd", "worker"],
    ],
)
def test_every_process_says_it_in_one_line(command: list[str]) -> None:
    wrong = {**os.environ, "EMBEDDING_MODEL": "bge-small"}

    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=wrong, capture_output=True, timeout=120
    )

    assert ended.returncode == 1
    assert ended.stderr.decode().splitlines() == [
        "contextd cannot start: EMBEDDING_MODEL: "
        "needs EMBEDDING_BASE_URL: without a server there is only all-MiniLM-L6-v2"
    ]


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTD_HTTP_PORT", "")

    assert environment.read().http_port == 8080


def test_lists_are_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTD_ALLOWED_HOSTS", "a.example.com, .example.org,")

    assert environment.read().allowed_hosts == ["a.example.com", ".example.org"]


def test_the_data_folder_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTEXTD_DATA_DIR", "data")

    assert environment.read().data_dir == tmp_path / "data"


def test_the_secret_key_is_made_once_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    key = secret_key.kept_in(folder)

    assert len(key) >= 50
    assert secret_key.kept_in(folder) == key
    assert secret_key.found_in(folder) == key
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in folder.iterdir()] == ["secret_key"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ImproperlyConfigured, match="CONTEXTD_DATA_DIR"):
        secret_key.kept_in(tmp_path / "file")


def test_a_mistyped_folder_is_told_and_not_made(tmp_path: Path) -> None:
    wrong = {name: os.environ[name] for name in os.environ if name != "DATABASE_URL"}
    wrong["CONTEXTD_DATA_DIR"] = str(tmp_path / "typo")

    listing, asking = (
        subprocess.run(
            [sys.executable, "manage.py", "call", name],
            cwd=ROOT,
            env=wrong,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for name in ("checkpoint_list", "status")
    )

    (line,) = listing.stderr.splitlines()
    assert listing.returncode == 1
    assert "the database does not answer" in line
    assert "CONTEXTD_DATA_DIR" in line
    assert str(tmp_path / "typo") in line
    assert json.loads(asking.stdout)["status"] == "unhealthy"
    assert list(tmp_path.iterdir()) == []


def test_another_user_than_that_of_the_server_learns_it(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    own = os.geteuid()
    os.seteuid(own or 65534)  # root may read everything
    try:
        with pytest.raises(ImproperlyConfigured, match="as the user that runs contextd"):
            secret_key.found_in(tmp_path)
    finally:
        os.seteuid(own)
        tmp_path.chmod(0o700)
