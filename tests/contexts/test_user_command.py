"""`manage.py user`."""

from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = StringIO()
    call_command("user", *words, stdout=out)
    return out.getvalue().strip()


def test_a_user_is_created_in_known_and_new_groups() -> None:
    known = Group.objects.create(name="developers")

    said = run("create", "ben", "--email", "ben@acme.example", *groups("developers", "on call"))

    ben = User.objects.get(username="ben")
    assert ben.email == "ben@acme.example"
    assert {*ben.groups.all()} == {known, Group.objects.get(name="on call")}
    assert (ben.is_active, ben.is_staff, ben.is_superuser) == (True, False, False)
    assert not ben.has_usable_password()
    assert said.endswith("manage.py changepassword ben")


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["ann"], "A user with that username already exists."),
        (["a b"], "Enter a valid username."),
        (["ben", "--email", "ben"], "Enter a valid email address."),
        (["ben", "--group", ""], "This field cannot be blank."),
    ],
)
def test_an_unusable_value_is_refused(ann: User, words: list[str], refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        run("create", *words)

    assert User.objects.get() == ann


def groups(*names: str) -> list[str]:
    return [word for name in names for word in ("--group", name)]
