"""Logging in to the admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

pytestmark = pytest.mark.django_db

HOST = "contextd.example.com"


@pytest.fixture
def ann(settings: Settings) -> User:
    settings.ALLOWED_HOSTS = [HOST]
    return User.objects.create_user("ann", password="a long one", is_staff=True)


def test_one_name_is_tried_only_so_often_and_others_are_not_kept_out(client: Client) -> None:
    def tried(name: str) -> int:
        form = {"username": name, "password": "guessed"}
        return client.post("/admin/login/", form).status_code

    # More than a minute's may pass, since a minute may end meanwhile.
    assert 429 in [tried("ann") for _ in range(21)]
    assert tried("\uff41nn") == 429  # a full-width letter, which the form takes for an a
    assert tried("bob") == 200
    assert 429 in [tried(f"user{number}") for number in range(201)]


def test_who_knows_the_password_is_not_kept_out_by_guesses_from_the_same_address(
    client: Client, ann: User
) -> None:
    for number in range(201):
        client.post("/admin/login/", {"username": f"user{number}", "password": "guessed"})

    assert log_in(f"https://{HOST}") == 302


def log_in(origin: str, host: str = HOST) -> int:
    """The form sent as a browser sends it; 302 where it was taken."""
    client = Client(enforce_csrf_checks=True, headers={"Host": host})
    client.get("/admin/login/")
    form = {
        "username": "ann",
        "password": "a long one",
        "csrfmiddlewaretoken": client.cookies["csrftoken"].value,
    }
    return client.post("/admin/login/", form, headers={"Origin": origin}).status_code


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (HOST, f"https://{HOST}"),
        (HOST, f"http://{HOST}"),
        (f"{HOST}:8443", f"https://{HOST}:8443"),
    ],
)
def test_people_log_in_where_tls_ends_at_a_proxy(ann: User, host: str, origin: str) -> None:
    assert log_in(origin, host) == 302


@pytest.mark.parametrize("origin", ["https://evil.example.com", f"https://{HOST}:1", "null"])
def test_nobody_logs_in_by_a_page_of_another_site(ann: User, origin: str) -> None:
    assert log_in(origin) == 403


def test_a_page_of_an_allowed_origin_may_send_forms(ann: User, settings: Settings) -> None:
    settings.ALLOWED_ORIGINS = ["https://pages.example.org"]

    assert log_in("https://pages.example.org") == 302


@pytest.mark.parametrize(
    ("headers", "is_secure"),
    [
        ({"Origin": f"https://{HOST}"}, True),
        ({"X-Forwarded-Proto": "https"}, True),
        ({"Origin": f"http://{HOST}"}, False),
        ({"X-Forwarded-Proto": "http"}, False),
        ({}, False),
    ],
)
def test_a_browser_with_tls_sends_the_login_over_nothing_else(
    ann: User, headers: dict[str, str], is_secure: bool
) -> None:
    client = Client(headers={"Host": HOST, **headers})

    answer = client.post("/admin/login/", {"username": "ann", "password": "a long one"})

    assert answer.status_code == 302
    assert {"sessionid", "csrftoken"} <= answer.cookies.keys()
    assert {bool(one["secure"]) for one in answer.cookies.values()} == {is_secure}
