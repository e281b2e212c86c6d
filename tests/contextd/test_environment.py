"""Settings from outside are checked at start."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from contextd import environment, secret_key


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONTEXTD_HTTP_PORT", "http"),
        ("CONTEXTD_HTTP_PORT", "70000"),
        ("DATABASE_URL", "mysql://db"),
        ("REDIS_URL", "localhost:6379"),
        ("EMBEDDING_BASE_URL", "localhost:8000/v1"),
        ("CONTEXTD_SECRET_KEY", "short"),
        ("CONTEXTD_RATE_LIMITS", "maybe"),
        ("CONTEXTD_WORKERS", "0"),
        ("CONTEXTD_LOG_LEVEL", "loud"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
    ],
)
def test_a_wrong_value_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured, match=f"^{name}: "):
        environment.read()


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
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in folder.iterdir()] == ["secret_key"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ImproperlyConfigured, match="CONTEXTD_DATA_DIR"):
        secret_key.kept_in(tmp_path / "file")
