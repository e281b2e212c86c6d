"""Admin pages beyond Django's own: file import, preview, version comparison."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.views.decorators.http import require_POST

from contextd import guards, operations
from contextd.admin import one_call, widgets
from contextd.errors import ContextdError
from contextd.models import Project
from skills import keeping, proposals, rendering, sources, transfer, wording
from skills.models import Skill
from skills.sources import Found
from skills.transfer import Imported, Wishes

if TYPE_CHECKING:
    Mixin = admin.ModelAdmin[Skill]
else:
    Mixin = object


class TakeInForm(forms.Form):
    file = forms.FileField(help_text="A zip archive, or a SKILL.md", widget=widgets.File)
    project = forms.ModelChoiceField(
        Project.objects.all(),
        required=False,
        help_text="If empty, each goes to the project its folder names, or to all projects",
        widget=widgets.Select,
    )
    note = forms.CharField(
        max_length=wording.NOTE_LENGTH,
        required=False,
        help_text="The reason, for the history",
        widget=widgets.TextInput,
    )
    allow_credentials = forms.BooleanField(
        required=False,
        help_text="Import apparent credentials, readable by everyone who may read the skill",
        widget=widgets.Checkbox,
    )
    replace = forms.BooleanField(
        required=False,
        help_text="Replace edits that were made here since the same files were last imported",
        widget=widgets.Checkbox,
    )


class SkillPages(Mixin):
    def get_urls(self) -> list[Any]:
        own = [
            path("take-in/", self._guarded(self.take_in_view), name="skills_skill_take_in"),
            path("preview/", self._guarded(require_POST(preview)), name="skills_skill_preview"),
            path(
                "<int:pk>/versions/",
                self._guarded(self.compare_view),
                name="skills_skill_compare",
            ),
        ]
        return [*own, *super().get_urls()]

    def _guarded(self, view: Any) -> Any:
        return self.admin_site.admin_view(view)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(request, {"may_take_in": may_take_in(request)})

    def take_in_view(self, request: HttpRequest) -> HttpResponse:
        if not may_take_in(request):
            raise PermissionDenied
        form = TakeInForm(request.POST or None, request.FILES or None)
        if form.is_valid() and self._take_in(request, form):
            return HttpResponseRedirect(reverse("admin:skills_skill_changelist"))
        context = {**self.admin_site.each_context(request), "title": "Import skills", "form": form}
        return TemplateResponse(request, "admin/skills/skill/take_in.html", context)

    def _take_in(self, request: HttpRequest, form: TakeInForm) -> bool:
        chosen = form.cleaned_data
        wishes = Wishes(
            chosen["project"], chosen["note"], chosen["allow_credentials"], chosen["replace"]
        )
        try:
            found = sources.skills_in(chosen["file"])
        except ContextdError as error:
            form.add_error("file", error.message)
            return False
        try:
            self._save_all(request, found, wishes)
        except ContextdError as error:
            messages.error(request, f"Not done: {error.message}")
            return False
        return True

    def _save_all(self, request: HttpRequest, found: Iterable[Found], wishes: Wishes) -> None:
        """Save new skills and new versions of existing ones, so with the permission for both."""
        with one_call(request, "skill_create") as caller:
            guards.authorize(operations.get("skill_update"), caller)
            for one in transfer.take_in(caller, found, wishes):
                tell(request, one)

    def compare_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        skill = self.get_object(request, str(pk))
        if skill is None or not self.has_view_permission(request, skill):
            raise PermissionDenied
        if request.method == "POST":
            return self._restore(request, skill)
        names = {version.version for version in skill.versions.only("version")}
        former, latter = (
            asked if (asked := request.GET.get(key, "")) in names else skill.version
            for key in ("from", "to")
        )
        packages = [keeping.package_of(skill, version) for version in (former, latter)]
        context = {
            **self.admin_site.each_context(request),
            "title": f"Versions of {skill.name}",
            "skill": skill,
            "versions": skill.versions.only("version"),
            "former": former,
            "latter": latter,
            "comparison": rendering.compare(*packages),
            "may_restore": latter != skill.version and self.has_change_permission(request, skill),
            "is_proposal": skill.versions.filter(version=latter, is_proposal=True).exists(),
        }
        return TemplateResponse(request, "admin/skills/skill/compare.html", context)

    def _restore(self, request: HttpRequest, skill: Skill) -> HttpResponse:
        if not self.has_change_permission(request, skill):
            raise PermissionDenied
        if "refuse" in request.POST:
            return self._refuse(request, skill)
        asked = {"id": str(skill.pk), "version": request.POST.get("version", "")}
        try:
            restored: Any = self._call(request, "skill_restore", asked)  # type: ignore[attr-defined]
            tell_restored(request, skill.version, restored)
            if restored.version != skill.version:
                self.log_change(request, skill, f"restored {asked['version']}")
        except ContextdError as error:
            messages.error(request, f"Not done: {error.message}")
        return HttpResponseRedirect(reverse("admin:skills_skill_change", args=[skill.pk]))

    def _refuse(self, request: HttpRequest, skill: Skill) -> HttpResponse:
        version = request.POST.get("version", "")
        try:
            with one_call(request, "skill_update") as caller:
                proposals.refuse(caller, str(skill.pk), version)
        except ContextdError as error:
            messages.error(request, f"Not done: {error.message}")
        else:
            self.log_change(request, skill, f"refused the proposal {version}")
            messages.success(request, f"The proposal {version} is refused")
        return HttpResponseRedirect(reverse("admin:skills_skill_change", args=[skill.pk]))


def tell_restored(request: HttpRequest, before: str, restored: Any) -> None:
    if restored.version != before:
        messages.success(request, f"The skill is now version {restored.version}")
    if restored.notice:
        messages.warning(request, restored.notice)


def may_take_in(request: HttpRequest) -> bool:
    return request.user.has_perms(["skills.add_skill", "skills.change_skill"])


def preview(request: HttpRequest) -> HttpResponse:
    return HttpResponse(rendering.as_html(request.POST.get("content", "")))


def tell(request: HttpRequest, imported: Imported) -> None:
    say = messages.error if imported.outcome == "refused" else messages.success
    say(request, f"{imported.outcome}: {imported.skill or imported.place}")
    for remark in imported.remarks:
        messages.warning(request, f"{imported.place}: {remark}")
