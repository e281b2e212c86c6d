"""Forms for the filters on the pages."""

from typing import Any

from django import forms

from analytics.calls import Wanted
from contextd import operations, search
from contextd.callers import Caller
from contextd.models import Project
from contexts.models import MAX_NAME_LENGTH, OUTCOMES

MAX_QUERY_CHARACTERS = 1000


class Choice(forms.Form):
    """Filters in the address; an invalid one is reported and ignored, the others apply."""

    def chosen(self) -> dict[str, Any]:
        """Return the valid fields."""
        self.is_valid()  # validates once
        return self.cleaned_data


class OfProject(Choice):
    project = forms.ModelChoiceField(Project.objects.none(), required=False)

    def __init__(self, caller: Caller, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        visible, field = Project.objects.visible_to(caller), self.fields["project"]
        field.queryset = visible  # type: ignore[attr-defined]
        field.choices = [("", "All projects"), *visible.labels().items()]  # type: ignore[attr-defined]


class Scope(OfProject):
    """Filter by period and project."""

    field_order = ["days", "project"]
    days = forms.TypedChoiceField(
        choices=[(7, "7 days"), (30, "30 days"), (90, "90 days")], coerce=int, label="Period"
    )


class Asked(Choice):
    """A search query, and the kind of records to search."""

    q = forms.CharField(max_length=MAX_QUERY_CHARACTERS, required=False, label="Search")
    kind = forms.ChoiceField(required=False, label="In")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [(domain.name, domain.title) for domain in search.domains()]
        self.fields["kind"].choices = [("", "All kinds"), *kinds]  # type: ignore[attr-defined]


class WantedCalls(OfProject):
    """Filter of the live calls."""

    field_order = ["operation", "outcome", "context", "project"]
    operation = forms.CharField(max_length=100, required=False, label="Tool")
    outcome = forms.ChoiceField(
        choices=[("", "Any"), *((word, word) for word in OUTCOMES)], required=False
    )
    context = forms.CharField(max_length=MAX_NAME_LENGTH, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["operation"].widget.attrs["list"] = "tools"

    @property
    def tools(self) -> list[str]:
        return [operation.name for operation in operations.installed()]

    def wanted(self) -> Wanted:
        return Wanted(**self.chosen())
