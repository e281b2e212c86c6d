"""The migrations of this app run forwards and backwards, also over what people have made."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from contexts import tokens
from contexts.models import Context, Token
from tests.contexts.conftest import MakeContext, grant

pytestmark = pytest.mark.django_db(transaction=True)


def test_they_run_backwards_and_forwards(ann: User, make_context: MakeContext) -> None:
    backend = make_context()
    grant(backend, ann)
    _, secret = tokens.create(ann, name="laptop", contexts=[backend])

    call_command("migrate", "contexts", "0001", verbosity=0)
    left = [name for name in connection.introspection.table_names() if name.startswith("contexts_")]
    call_command("migrate", "contexts", verbosity=0)

    assert left == ["contexts_token"]
    assert [context.name for context in Context.objects.all()] == ["default"]
    assert Token.objects.get().all_contexts
    assert tokens.principal_of(secret) is not None
