"""Import and export records as CSV and JSON."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from import_export.admin import ImportMixin
from import_export.forms import ConfirmImportForm
from unfold.contrib.import_export.forms import ImportForm
from unfold.widgets import UnfoldBooleanWidget

from contextd import logins, operations, pipeline
from contextd.admin import uploads
from contextd.admin.editing import tell_redacted
from contextd.admin.exporting import Exportable
from contextd.admin.rows import TAKE_CREDENTIALS_OUT, RowsByOperation, WritableRows
from contextd.errors import ContextdError

MAX_REPORTED = 20
MAX_FILE_BYTES = 10 * 1024 * 1024
TOO_LARGE = (
    "The file is larger than 10 MB. Filter the list to export it in parts, or split the file"
)
CONFIRMED_BEFORE = (
    "Nothing was imported: this import was confirmed before, or its preview is older than an hour. "
    "If its records are missing, choose the file again"
)
TAKES_CREDENTIALS = "takes_credentials"


class FileForm(ImportForm):  # type: ignore[misc]  # the library has no types
    takes_credentials = forms.BooleanField(
        label=TAKE_CREDENTIALS_OUT,
        help_text="Otherwise a file with an apparent credential is refused, and its place reported",
        required=False,
        widget=UnfoldBooleanWidget,
    )

    def clean_import_file(self) -> Any:
        """Refuse a file that would take longer to import than browsers and proxies wait."""
        file = self.cleaned_data["import_file"]
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(TOO_LARGE)
        return file


class ConfirmForm(ConfirmImportForm):  # type: ignore[misc]  # the library has no types
    takes_credentials = forms.BooleanField(required=False, widget=forms.HiddenInput)


class Transferable(ImportMixin, Exportable):  # type: ignore[misc]  # the library has no types
    """For a ModelAdmin: import and export files; `rows` defines their rows.

    Users who may add and change records may import. An import is atomic.
    """

    rows: ClassVar[type[WritableRows]]
    import_form_class, confirm_form_class = FileForm, ConfirmForm
    tmp_storage_class = uploads.Upload
    import_export_change_list_template = "admin/import_export/change_list_import_export.html"

    def get_resource_kwargs(
        self, request: HttpRequest, *given: Any, **options: Any
    ) -> dict[str, Any]:
        filled_in = getattr(options.get("form"), "cleaned_data", {})
        return {
            "caller": logins.curator_of(request),
            "takes_credentials": filled_in.get(TAKES_CREDENTIALS, False),
        }

    def get_confirm_form_initial(self, request: HttpRequest, import_form: Any) -> dict[str, Any]:
        """Keep the file, whose preview has no errors, until it is confirmed."""
        if import_form:
            file = import_form.cleaned_data["import_file"]
            file.seek(0)
            file.tmp_storage_name = uploads.keep(file.read())
        initial: dict[str, Any] = super().get_confirm_form_initial(request, import_form)
        filled_in = import_form.cleaned_data if import_form else {}
        return {**initial, TAKES_CREDENTIALS: filled_in.get(TAKES_CREDENTIALS, False)}

    def get_import_data_kwargs(self, **options: Any) -> dict[str, Any]:
        return {"rollback_on_validation_errors": True}

    def add_data_read_fail_error_to_form(self, form: forms.Form, error: Exception) -> None:
        if isinstance(error, ContextdError):
            form.add_error("import_file", error.message)
        else:
            super().add_data_read_fail_error_to_form(form, error)

    def add_success_message(self, result: Any, request: HttpRequest) -> None:
        super().add_success_message(result, request)
        tell_redacted(request, sum(row.redacted for row in result.rows))

    def has_import_permission(self, request: HttpRequest) -> bool:
        app, name = self.opts.app_label, self.opts.model_name
        return request.user.has_perms([f"{app}.add_{name}", f"{app}.change_{name}"])

    def process_import(self, request: HttpRequest, **options: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().process_import(request, **options)
        except uploads.Gone:
            messages.error(request, CONFIRMED_BEFORE)
            return HttpResponseRedirect("../import/")
        return response

    def process_result(self, result: Any, request: HttpRequest) -> HttpResponse:
        """Import the rows; what was valid in the preview may be invalid now."""
        mistakes = [str(error.error) for error in result.base_errors]
        mistakes += [text for row in result.invalid_rows for text in row.error.messages]
        if not mistakes:
            self.record_import(request)
            response: HttpResponse = super().process_result(result, request)
            return response
        for mistake in mistakes[:MAX_REPORTED]:
            messages.error(request, mistake)
        messages.error(request, "Nothing was imported")
        return HttpResponseRedirect("../import/")

    def record_import(self, request: HttpRequest) -> None:
        """Record the import as one call if rows are calls; the admin's history has each record."""
        if issubclass(self.rows, RowsByOperation):
            saving = operations.get(self.rows.save_operation)
            with pipeline.recorded_as_one_call(saving, logins.curator_of(request)):
                pass
