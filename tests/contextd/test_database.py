"""A database server that lacks something is reported before anything is created in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.db import ProgrammingError

from contextd import database
from contextd.embedded import StartError
from contextd.management.commands import up
from tests.server import ROOT


@pytest.mark.django_db
def test_the_servers_of_the_tests_are_suitable() -> None:
    database.ensure_suitable()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("minimum", "value", "message"),
    [
        ("MIN_POSTGRES", 99, r"is PostgreSQL \d+; contextd needs 99 or newer"),
        ("MIN_EXTENSIONS", {"vector": (99, 1)}, r"has no extension vector 99\.1 or newer"),
        ("MIN_EXTENSIONS", {"no_such": (1, 0)}, r"has no extension no_such 1\.0 or newer"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, minimum: str, value: object, message: str
) -> None:
    monkeypatch.setattr(database, minimum, value)

    with pytest.raises(StartError, match=message):
        database.ensure_suitable()


@pytest.mark.django_db
def test_an_old_extension_in_a_new_server_is_to_be_updated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        database, "_VERSIONS", "SELECT 'vector', '0.7.4', '0.8.1' WHERE 'vector' = ANY(%s)"
    )
    monkeypatch.setattr(database, "MIN_EXTENSIONS", {"vector": (0, 8)})

    with pytest.raises(StartError, match=r"vector 0\.7\.4.* run ALTER EXTENSION vector UPDATE"):
        database.ensure_suitable()


def test_every_failure_of_the_database_ends_the_start_in_one_line() -> None:
    with pytest.raises(StartError, match="cannot be used: permission denied"), up.usable_database():
        raise ProgrammingError("permission denied to create extension")


@pytest.mark.django_db
def test_the_first_admin_gets_a_name_that_is_free() -> None:
    get_user_model().objects.create_user("admin")

    assert up.create_first_admin()
    assert get_user_model().objects.get(is_superuser=True).get_username() == "admin2"


def test_options_of_the_address_are_kept(data_dir: Path) -> None:
    address = "postgresql://u@h/d?options=-c%20search_path%3Dmine&sslmode=require"
    asked = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import json; from contextd import settings;"
            " print(json.dumps(settings.DATABASES['default']['OPTIONS']))",
        ],
        cwd=ROOT,
        env={**os.environ, "CONTEXTD_DATA_DIR": str(data_dir), "DATABASE_URL": address},
        capture_output=True,
        check=True,
    )
    options = json.loads(asked.stdout)

    assert options["options"] == "-c search_path=mine -c statement_timeout=30000"
    assert (options["sslmode"], options["connect_timeout"]) == ("require", 3)
