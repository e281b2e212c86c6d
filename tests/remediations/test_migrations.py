from importlib import import_module

from django.apps import apps

from remediations.models import Remediation
from tests.conftest import Call

recompute = import_module("remediations.migrations.0002_recompute_fingerprints").recompute
SAVED = {
    "error_message": "KeyError: 'user_id' in checkout",
    "error_type": "KeyError",
    "solution": "Ask for the id",
}


def test_a_fingerprint_of_before_is_replaced_by_that_of_now(call: Call) -> None:
    first = call("remediation_save", **SAVED)
    Remediation.objects.update(fingerprint="before", solution_digest="before")

    recompute(apps, None)

    again = call("remediation_save", **SAVED)
    assert again.id == first.id
    assert Remediation.objects.get().seen_count == 2


def test_what_became_the_same_as_another_stays_as_it_is(call: Call) -> None:
    call("remediation_save", **SAVED)
    kept = Remediation.objects.get()
    Remediation.objects.update(fingerprint="before")
    call("remediation_save", **SAVED)

    recompute(apps, None)

    kept.refresh_from_db()
    assert (kept.fingerprint, Remediation.objects.count()) == ("before", 2)
