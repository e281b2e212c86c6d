"""Variables of a context, which only its tools can read."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from contextd import auth, pipeline, variables
from contextd.callers import Caller
from contextd.errors import Invalid
from contextd.operations import Operation, Request, Result, operation
from contexts.models import Context, Variable
from tests.contexts.conftest import MakeContext, MakeToken, Post, grant

pytestmark = pytest.mark.django_db


class Nothing(Request):
    """Return the variables of the context."""


class Values(Result):
    values: dict[str, str]


def reveal(caller: Caller, request: Nothing) -> Values:
    return Values(values=dict(variables.of(caller)))


@pytest.fixture
def telling(declared: dict[str, Operation]) -> None:
    """Declare an operation that returns the values it should only use."""
    operation("probe_reveal", effect="read", timeout=1)(reveal)


def make_variable(context: Context, name: str, value: str, *, is_secret: bool = True) -> Variable:
    variable = Variable(context=context, name=name, is_secret=is_secret)
    variable.value = value
    variable.save()
    return variable


@pytest.fixture
def backend(make_context: MakeContext) -> Context:
    backend = make_context()
    make_variable(backend, "API_KEY", "hunter2")
    make_variable(make_context("frontend"), "API_KEY", "swordfish")
    return backend


def test_the_tools_of_a_context_read_its_values_and_no_others(
    telling: None, backend: Context
) -> None:
    def values_in(context: str) -> Any:
        caller = auth.caller_of_cli(user=None, context=context)
        result: Any = pipeline.call("probe_reveal", {}, caller)
        return result.values

    assert values_in("backend") == {"API_KEY": "hunter2"}
    assert values_in("frontend") == {"API_KEY": "swordfish"}
    assert values_in("default") == {}


def test_stored_values_are_encrypted(backend: Context) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT contexts_variable::text FROM contexts_variable")
        stored = str(cursor.fetchall())

    assert "API_KEY" in stored
    assert "hunter2" not in stored


def test_under_another_key_a_value_is_unreadable_and_says_so(
    telling: None, backend: Context, caller: Caller, settings: Any
) -> None:
    settings.SECRET_KEY = "another key, and as long as it has to be"

    with pytest.raises(Invalid, match="API_KEY was saved under another CONTEXTD_SECRET_KEY"):
        pipeline.call("probe_reveal", {}, auth.caller_of_cli(user=None, context="backend"))


def test_no_operation_shows_them(
    backend: Context, ann: User, token_of: MakeToken, post: Post
) -> None:
    grant(backend, ann, "manage")

    answer = post("status", token=token_of(ann), context="backend")

    assert answer.status_code == 200
    assert "hunter2" not in answer.content.decode()


def page_of(client: Client, context: Context) -> str:
    return client.get(f"/admin/contexts/context/{context.pk}/change/").content.decode()


def form_of(context: Context, **changed: str) -> dict[str, str]:
    """Return the form of a context with one variable, as a browser sends it."""
    variable = context.variables.get()
    form = {
        "description": "",
        "is_active": "on",
        "tools": "*",
        "resources": "*",
        "prompts": "*",
        "grants-TOTAL_FORMS": "0",
        "grants-INITIAL_FORMS": "0",
        "variables-TOTAL_FORMS": "1",
        "variables-INITIAL_FORMS": "1",
        "variables-0-id": str(variable.pk),
        "variables-0-context": str(context.pk),
        "variables-0-name": variable.name,
        "variables-0-value": "",
        "variables-0-is_secret": "on" if variable.is_secret else "",
    }
    return {key: value for key, value in {**form, **changed}.items() if value or "value" in key}


def save(client: Client, context: Context, **changed: str) -> Any:
    address = f"/admin/contexts/context/{context.pk}/change/"
    return client.post(address, form_of(context, **changed))


def test_the_admin_does_not_show_a_secret_again(admin_client: Client, backend: Context) -> None:
    assert "API_KEY" in page_of(admin_client, backend)
    assert "hunter2" not in page_of(admin_client, backend)


def test_a_secret_that_is_left_empty_is_kept(admin_client: Client, backend: Context) -> None:
    assert save(admin_client, backend, **{"variables-0-name": "KEY"}).status_code == 302

    assert (backend.variables.get().name, backend.variables.get().value) == ("KEY", "hunter2")


def test_a_new_value_replaces_it(admin_client: Client, backend: Context) -> None:
    save(admin_client, backend, **{"variables-0-value": "letmein"})

    assert backend.variables.get().value == "letmein"


def test_a_secret_is_not_revealed_by_calling_it_none(
    admin_client: Client, backend: Context
) -> None:
    page = save(admin_client, backend, **{"variables-0-is_secret": ""})

    assert page.status_code == 200
    assert "a secret is never shown" in page.content.decode()
    assert "hunter2" not in page.content.decode()
    assert backend.variables.get().is_secret


def test_a_variable_that_is_not_secret_is_shown_and_edited(
    admin_client: Client, make_context: MakeContext
) -> None:
    backend = make_context()
    make_variable(backend, "REGION", "north", is_secret=False)

    assert "north" in page_of(admin_client, backend)
    save(admin_client, backend, **{"variables-0-value": "south"})

    assert backend.variables.get().value == "south"


def test_a_new_variable_needs_a_value(admin_client: Client, backend: Context) -> None:
    new = {
        "variables-TOTAL_FORMS": "2",
        "variables-1-context": str(backend.pk),
        "variables-1-name": "REGION",
        "variables-1-value": "",
    }

    page = save(admin_client, backend, **new)

    assert "Give a value." in page.content.decode()
    assert save(admin_client, backend, **{**new, "variables-1-value": "north"}).status_code == 302
    assert backend.variables.get(name="REGION").value == "north"


def test_the_page_of_a_context_opens_when_the_key_was_lost(
    admin_client: Client, make_context: MakeContext, settings: Any
) -> None:
    backend = make_context()
    make_variable(backend, "REGION", "north", is_secret=False)
    Variable.objects.update(ciphertext="of another key")

    assert "cannot be decrypted with this secret key" in page_of(admin_client, backend)
    save(admin_client, backend, **{"variables-0-value": "south"})

    assert backend.variables.get().value == "south"
