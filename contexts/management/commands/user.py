"""`manage.py user create`."""

from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from contextd.management.actions import ActionCommand


class Command(ActionCommand):
    help = "Create users who are no superusers: for tokens, and for the dashboard."

    def add_actions(self) -> None:
        create = self.add_action("create", self.create, help="create a user without a password")
        create.add_argument("name")
        create.add_argument("--email", default="", help="which logins of an OAuth issuer name")
        create.add_argument(
            "--group",
            action="append",
            dest="groups",
            default=[],
            help="a group to add the user to, created if it is new; may be given several times",
        )

    def create(self, *, name: str, email: str, groups: list[str], **options: Any) -> None:
        user = User(username=name, email=email)
        user.set_unusable_password()
        try:
            user.full_clean()
            with transaction.atomic():
                user.save()
                user.groups.set([group_named(group) for group in groups])
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        self.stdout.write(
            f"created: {name}, without a password; to log in with a browser, {name} needs one: "
            f"manage.py changepassword {name}"
        )


def group_named(name: str) -> Group:
    """Return the group, created if there is none. Raise ValidationError for a bad name."""
    group = Group.objects.filter(name=name).first()
    if group is None:
        group = Group(name=name)
        group.full_clean()
        group.save()
    return group
