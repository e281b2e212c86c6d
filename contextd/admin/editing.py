"""Edit and delete records by calling operations."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from contextd import logins, operations, pipeline
from contextd.admin.searching import SearchByMeaning
from contextd.admin.theme import ONE_A_LINE
from contextd.callers import Caller
from contextd.errors import ContextdError, Invalid
from contextd.operations import Result


def tell_redacted(request: HttpRequest, credentials: int) -> None:
    """Warn if credentials were removed from the input."""
    if credentials:
        messages.warning(request, f"{credentials} credentials were replaced before saving")


@contextmanager
def one_call(request: HttpRequest, name: str) -> Iterator[Caller]:
    """Do the block as a call of the operation: with its permission, recorded; without its rate."""
    caller = logins.curator_of(request)
    with pipeline.recorded_as_one_call(operations.get(name), caller):
        yield caller


class FreshForm(forms.ModelForm[Any]):
    """Refuses a stale form, which sends every field and would undo others' changes.

    The admin lists the field `opened`.
    """

    opened = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["opened"] = self._stored = self._digest() if self.instance.pk else ""

    def _digest(self) -> str:
        """Return a value that changes with any field that the form edits."""
        values = forms.model_to_dict(self.instance, self._meta.fields, self._meta.exclude)
        text = json.dumps(values, cls=DjangoJSONEncoder, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("opened") != self._stored:
            self.add_error(
                None,
                "This record has changed since you opened this page. Nothing is saved: copy your "
                "changes, open the page again, and make them there.",
            )
        return cleaned


class OperationForm(forms.ModelForm[Any]):
    """Reports refusals next to the field, so that no input is lost."""

    refusal: ClassVar[str]
    """The operation's error for the same input."""
    operation: ClassVar[str]
    operation_fields: ClassVar[list[str]]
    described_by: ClassVar[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        described = operations.get(self.described_by).request.model_fields
        for name in self.fields.keys() & described.keys():
            field = self.fields[name]
            field.help_text = field.help_text or described[name].description or ""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.refusal:
            self.add_error(None, f"Not done: {self.refusal}")
        arguments = {name: cleaned[name] for name in self.operation_fields if name in cleaned}
        if self.errors:
            return cleaned
        try:
            operations.get(self.operation).parse({"id": str(self.instance.pk), **arguments})
        except Invalid as error:
            for problem in error.details["problems"]:
                field = problem["field"].partition(".")[0]
                self.add_error(field if field in self.fields else None, problem["error"])
        return cleaned


class ByOperation(SearchByMeaning):
    """For a ModelAdmin: edit and delete by operations, with their limits and audit log.

    `update_operation` takes the record's id and `operation_fields`; `delete_operation` the id.
    A bulk deletion is atomic, and recorded as one call.
    """

    form = OperationForm
    is_atomic = False
    formfield_overrides = ONE_A_LINE
    update_operation: str
    operation_fields: list[str]
    described_by: str
    """The operation whose field descriptions the form shows."""
    delete_operation: str

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> type[Any]:
        form: type[Any] = super().get_form(request, *args, **kwargs)
        form.refusal = getattr(request, "refusal", "")
        form.operation, form.operation_fields = self.update_operation, self.operation_fields
        form.described_by = self.described_by
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in self.operation_fields}
        saved: Any = self._call(request, self.update_operation, {"id": str(obj.pk), **fields})
        obj.refresh_from_db()  # history and message show the stored values, not the input
        tell_redacted(request, saved.redacted)
        if saved.notice:
            messages.warning(request, saved.notice)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Do nothing: Django logs before the deletion, which may still be refused."""
        return []

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._call(request, self.delete_operation, {"id": str(obj.pk)})
        deleted: Any = [obj]
        super().log_deletions(request, deleted)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        operation = operations.get(self.delete_operation)
        records: Any = list(queryset)
        with one_call(request, operation.name) as caller, transaction.atomic():
            for record in records:
                pipeline.call_unrecorded(operation, {"id": str(record.pk)}, caller)
            super().log_deletions(request, records)

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        view: Any = partial(super().response_action, request, *args, **kwargs)
        return self._told(request, view)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        view = partial(super().changeform_view, request, *args, **kwargs)
        return self._told(request, partial(self._with_what_was_typed, request, view))

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self._told(request, partial(super().delete_view, request, *args, **kwargs))

    def _with_what_was_typed(
        self, request: HttpRequest, view: Callable[[], HttpResponse]
    ) -> HttpResponse:
        try:
            return view()
        except ContextdError as error:
            request.refusal = error.message  # type: ignore[attr-defined]  # read by `get_form`
            return view()

    def _told(self, request: HttpRequest, view: Callable[[], HttpResponse]) -> HttpResponse:
        try:
            return view()
        except ContextdError as error:
            messages.error(request, f"Not done: {error.message}")
            return HttpResponseRedirect(request.get_full_path())

    def _call(self, request: HttpRequest, name: str, arguments: dict[str, Any]) -> Result:
        return pipeline.call(name, arguments, logins.curator_of(request))
