"""The theme's widgets, for fields without a model."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.admin.widgets import AdminTextareaWidget as Textarea
    from django.forms import CheckboxInput as Checkbox
    from django.forms import FileInput as File
    from django.forms import PasswordInput as Password
    from django.forms import Select, TextInput
else:
    from unfold.widgets import UnfoldAdminFileFieldWidget as File
    from unfold.widgets import UnfoldAdminPasswordWidget as Password
    from unfold.widgets import UnfoldAdminSelectWidget as Select
    from unfold.widgets import UnfoldAdminTextareaWidget as Textarea
    from unfold.widgets import UnfoldAdminTextInputWidget as TextInput
    from unfold.widgets import UnfoldBooleanWidget as Checkbox

__all__ = ["Checkbox", "File", "Lines", "Password", "Select", "TextInput", "Textarea"]


class Lines(Textarea):
    """Keeps line endings as stored, although browsers change them."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        typed = super().value_from_datadict(data, files, name)
        return typed.replace("\r\n", "\n") if isinstance(typed, str) else typed
