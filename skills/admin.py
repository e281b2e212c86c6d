from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Q, QuerySet, TextField
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from contextd.admin import (
    ByOperation,
    Exportable,
    FreshForm,
    ModelAdmin,
    OperationForm,
    ProjectFilter,
    ReadOnly,
    ReadOnlyInline,
    Rows,
    RowsOfProjects,
    TabularInline,
    TagFilter,
    Transferable,
    one_call,
    widgets,
)
from contextd.admin.files import Row
from contextd.errors import ContextdError, Invalid
from skills import proposals, services, serving, transfer, wording
from skills.models import Skill, SkillUse, SkillVersion, State
from skills.pages import SkillPages

if TYPE_CHECKING:
    from django.contrib.admin.helpers import ActionForm
else:
    from unfold.forms import ActionForm

EDITED = [
    *("name", "description", "content", "version", "category"),
    *("prerequisites", "expected_outcome", "tags", "metadata"),
]
READ_ONLY_FIELDS = [
    *("address", "author", "project", "token_count"),
    *("usage_count", "success", "created_by", "created_at", "updated_at"),
]
USE_FIELDS = ["usage_count", "success_count", "failure_count", "last_used_at"]


class MarkdownField(forms.CharField):
    """Keeps text as stored: browsers send other line endings, and white space is significant."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "strip": False})

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)


class SkillForm(FreshForm, OperationForm):
    note = forms.CharField(
        max_length=wording.NOTE_LENGTH,
        required=False,
        help_text="The reason, for the version history",
        widget=widgets.TextInput,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "content" in self.fields:
            preview = reverse("admin:skills_skill_preview")
            self.fields["content"].widget.attrs["data-preview"] = preview


class TagForm(ActionForm):
    tag = forms.CharField(
        max_length=50,
        required=False,
        label="",
        widget=forms.TextInput({"aria-label": "Tag", "placeholder": "Tag"}),
    )


class ProposalFilter(admin.SimpleListFilter):
    title = "proposals"
    parameter_name = "proposals"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("waiting", f"Waiting ({Skill.objects.with_proposals().count()})")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.with_proposals() if self.value() == "waiting" else queryset


class VersionInline(ReadOnlyInline, TabularInline[SkillVersion, Skill]):
    """Former versions of the skill, to compare and restore."""

    model = SkillVersion
    fields = ["compared", "changed_by", "note", "is_proposal", "created_at"]
    readonly_fields = ["compared", "changed_by", "note", "is_proposal", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[SkillVersion]:
        kept = super().get_queryset(request)
        return kept.select_related("skill").defer("content", "skill__content")

    @admin.display(description="version")
    def compared(self, version: SkillVersion) -> SafeString:
        page = reverse("admin:skills_skill_compare", args=[version.skill_id])
        former = proposals.base_of(version) if version.is_proposal else version.skill
        return format_html(
            '<a href="{}?from={}&to={}">{}</a>',
            page,
            former.version,
            version.version,
            version.version,
        )


class UseInline(ReadOnlyInline, TabularInline[SkillUse, Skill]):
    """Who uses the skill, and with what success."""

    model = SkillUse
    fields = ["principal", *USE_FIELDS]
    readonly_fields = ["principal", *USE_FIELDS]


class SkillRows(RowsOfProjects):
    """Exports the current wording of skills; archives include their files."""

    model = Skill
    save_operation, update_operation = "skill_create", "skill_update"
    columns = ["project_path", "author", *EDITED]
    lists, objects = ["prerequisites", "tags"], ["metadata"]
    fixed = ["project_path", "author"]
    same_by = ["name"]
    told_only = [*RowsOfProjects.told_only, "state"]

    def same(self, row: Row) -> Q:
        """Match rows by slug, since names with the same slug are one name."""
        return Q(slug=wording.slug_of(row["name"])) | super().same(row)

    def write(self, record: Skill | None, row: Row) -> Skill:
        """Save a row; a new skill gets the row's state."""
        state = row.get("state") or State.PUBLISHED
        if state not in State.values:
            raise Invalid(f"state must be one of {', '.join(State.values)}", field="state")
        skill: Skill = super().write(record, row)
        if record is None:
            services.move_to(self.caller, State(state), Skill.objects.filter(pk=skill.pk))
        return skill


@admin.register(Skill)
class SkillAdmin(SkillPages, Transferable, ByOperation, ModelAdmin[Skill]):
    group, icon = "Knowledge", "school"
    about = (
        "Proven ways of working. Assistants find and use the published ones; "
        "each change keeps the previous version."
    )
    form = SkillForm
    rows = SkillRows
    formfield_overrides = {
        **ByOperation.formfield_overrides,
        TextField: {"form_class": MarkdownField, "widget": widgets.Textarea},
    }
    search_domain = services.DOMAIN
    update_operation, described_by = "skill_update", "skill_create"
    operation_fields = [*EDITED, "note"]
    delete_operation = "skill_delete"
    list_display = [
        "name", "version", "state", "category", "project", "tags", "usage_count", "success",
        "updated_at",
    ]  # fmt: skip
    list_filter = ["state", ProposalFilter, "category", ("project", ProjectFilter), TagFilter]
    list_select_related = ["project"]
    fields = ["state", *EDITED, "note", "opened", *READ_ONLY_FIELDS]
    readonly_fields = READ_ONLY_FIELDS
    inlines = [VersionInline, UseInline]
    change_list_template = "admin/skills/skill/change_list.html"
    action_form = TagForm
    actions = [
        *("publish", "retire", "take_back", "add_tag", "remove_tag"),
        *("export_as_archive", *Transferable.actions),
    ]

    class Media:
        js = ["skills/preview.js"]
        css = {"all": ["skills/skills.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Skill, form: Any, change: bool) -> None:
        state = State(form.cleaned_data["state"])
        if set(EDITED) & set(form.changed_data):
            super().save_model(request, obj, form, change)
        if "state" in form.changed_data:
            self._move_one(request, obj, state)

    def _move_one(self, request: HttpRequest, skill: Skill, state: State) -> None:
        with one_call(request, self.update_operation) as caller:
            found = services.get(caller, str(skill.pk))
            services.move_to(caller, state, Skill.objects.filter(pk=found.pk))

    @admin.display(description="success", ordering="proven")
    def success(self, skill: Skill) -> str:
        """Return the success rate and the number of rated uses."""
        return f"{skill.success_rate:.0%} of {skill.rated_count}" if skill.rated_count else "-"

    @admin.display(description="address")
    def address(self, skill: Skill) -> str:
        return serving.address_of(skill)

    @admin.action(description="Publish", permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Skill]) -> None:
        self._move(request, queryset, State.PUBLISHED)

    @admin.action(description="Retire", permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Skill]) -> None:
        self._move(request, queryset, State.RETIRED)

    @admin.action(description="Take back to draft", permissions=["change"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Skill]) -> None:
        self._move(request, queryset, State.DRAFT)

    def _move(self, request: HttpRequest, queryset: QuerySet[Skill], state: State) -> None:
        with one_call(request, self.update_operation) as caller:
            moved = services.move_to(caller, state, queryset)
        for skill in moved:
            self.log_change(request, skill, f"{state.value}")
        for skill in queryset.exclude(pk__in=Skill.objects.visible_to(caller)):
            messages.error(request, f"Not {skill}: the context {caller.context!r} does not hold it")
        messages.success(request, f"{len(moved)} are {state.value} now")

    @admin.action(description="Add the tag", permissions=["change"])
    def add_tag(self, request: HttpRequest, queryset: QuerySet[Skill]) -> None:
        tag = request.POST["tag"].strip()
        self._tag(request, queryset, f"tagged {tag}", lambda tags: [*tags, tag])

    @admin.action(description="Remove the tag", permissions=["change"])
    def remove_tag(self, request: HttpRequest, queryset: QuerySet[Skill]) -> None:
        tag = request.POST["tag"].strip()
        note = f"no longer tagged {tag}"
        self._tag(request, queryset, note, lambda tags: [other for other in tags if other != tag])

    def _tag(
        self,
        request: HttpRequest,
        queryset: QuerySet[Skill],
        note: str,
        retag: Callable[[list[str]], list[str]],
    ) -> None:
        if not _is_tag(request):
            return
        done = 0
        with one_call(request, self.update_operation) as caller:
            for skill in queryset:
                try:
                    tags = wording.checked_tags(retag(skill.tags))
                    services.update(caller, str(skill.pk), version=None, note=note, tags=tags)
                except ContextdError as error:
                    messages.error(request, f"Not {skill}: {error.message}")
                else:
                    self.log_change(request, skill, note)
                    done += 1
        if done:
            messages.success(request, f"{done} are {note} now")

    @admin.action(description="Export as a zip archive", permissions=["view"])
    def export_as_archive(self, request: HttpRequest, queryset: QuerySet[Skill]) -> HttpResponse:
        return HttpResponse(
            transfer.as_archive(queryset),
            content_type="application/zip",
            headers={"Content-Disposition": 'attachment; filename="skills.zip"'},
        )


def _is_tag(request: HttpRequest) -> bool:
    """Return whether a valid tag was typed; report a problem once, not per skill."""
    if not (tag := request.POST["tag"].strip()):
        messages.error(request, "Type the tag next to the action")
        return False
    try:
        wording.checked_tags([tag])
    except Invalid as error:
        messages.error(request, error.message)
        return False
    return True


class SkillUseRows(Rows):
    columns = ["skill", "principal", *USE_FIELDS]


@admin.register(SkillUse)
class SkillUseAdmin(Exportable, ReadOnly, ModelAdmin[SkillUse]):
    group, icon = "Activity", "trending_up"
    about = "Who uses which skill, and with what success."
    rows = SkillUseRows
    list_display = ["skill", "principal", *USE_FIELDS]
    list_select_related = ["skill"]
    search_fields = ["principal", "skill__name"]
    list_filter = ["last_used_at"]
