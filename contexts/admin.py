from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest

from contextd.admin import (
    Exportable,
    ModelAdmin,
    ReadOnly,
    Rows,
    TabularInline,
    Transferable,
    widgets,
)
from contextd.callers import DEFAULT_CONTEXT
from contextd.encryption import Undecipherable
from contextd.errors import Invalid
from contexts import services, tokens
from contexts.models import AuditEntry, Context, Grant, Token, Variable
from contexts.rows import ContextRows

GIVEN_BY_ADMINS = [
    *("name", "all_projects", "projects", "calls_per_second", "calls_at_once"),
    *("is_active", "is_open", "needs_review"),
]


def may_change(request: HttpRequest, context: Context | None) -> bool:
    """Return whether the user has Django's permission or the `manage` grant of the context."""
    if may_change_all(request):
        return True
    managed = managed_by(request)
    return managed.filter(pk=context.pk).exists() if context else managed.exists()


def managed_by(request: HttpRequest) -> QuerySet[Context]:
    return Context.objects.managed_by(request.user.pk or 0)


def may_change_all(request: HttpRequest) -> bool:
    return request.user.has_perm("contexts.change_context")


def is_default(context: Context | None) -> bool:
    """Return whether requests that name no context, and the admin, use it: it must stay."""
    return context is not None and context.name == DEFAULT_CONTEXT


class PartOfContext(TabularInline[Any, Context]):
    """Editable by everyone who may change its context."""

    extra = 0

    def has_view_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return may_change(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return may_change(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return may_change(request, obj)


class GrantInline(PartOfContext):
    model = Grant


class VariableForm(forms.ModelForm[Variable]):
    """Does not send secret values to the browser again."""

    value = forms.CharField(widget=widgets.Textarea({"rows": 1, "cols": 40}), required=False)

    class Meta:
        model = Variable
        fields = ["name", "value", "is_secret"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.was_secret = bool(self.instance.pk and self.instance.is_secret)
        if self.was_secret:
            self.hint("saved; leave empty to keep it")
        elif self.instance.pk:
            self.show_value()

    def show_value(self) -> None:
        try:
            self.initial["value"] = self.instance.value
        except Undecipherable:
            self.hint("cannot be decrypted with this secret key; enter it again")

    def hint(self, text: str) -> None:
        self.fields["value"].widget.attrs["placeholder"] = text

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("value"):
            if not self.instance.pk:
                self.add_error("value", "Give a value.")
            elif self.was_secret and not cleaned.get("is_secret"):
                self.add_error("value", "Enter it again: a secret is never shown.")
        return cleaned

    def save(self, commit: bool = True) -> Variable:
        if self.cleaned_data["value"] or not self.was_secret:
            self.instance.value = self.cleaned_data["value"]
        return super().save(commit)


class VariableInline(PartOfContext):
    model = Variable
    form = VariableForm


@admin.register(Context)
class ContextAdmin(Transferable, ModelAdmin[Context]):
    group, icon = "Access", "shield_person"
    about = (
        "What assistants see and may use: tools, projects, rates. Those that name none use the "
        "one named default."
    )
    rows = ContextRows
    list_display = ["name", "description", "is_active", "is_open", "all_projects", "updated_at"]
    list_filter = ["is_active", "is_open"]
    search_fields = ["name", "description"]
    filter_horizontal = ["projects"]
    inlines = [GrantInline, VariableInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Context]:
        contexts = super().get_queryset(request)
        if request.user.has_perm("contexts.view_context") or may_change_all(request):
            return contexts
        return contexts.filter(pk__in=managed_by(request))

    def get_readonly_fields(self, request: HttpRequest, obj: Context | None = None) -> list[str]:
        fixed = GIVEN_BY_ADMINS if not may_change_all(request) else ["name"] if obj else []
        return list({*fixed, "is_active"}) if is_default(obj) else fixed

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) or may_change(request, None)

    def has_view_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return super().has_view_permission(request, obj) or may_change(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Context | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not is_default(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Context]) -> None:
        super().delete_queryset(request, queryset.exclude(name=DEFAULT_CONTEXT))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        warn_about_mistakes(request, form.instance)

    def get_resource_kwargs(self, request: HttpRequest, *given: Any, **options: Any) -> Any:
        known = super().get_resource_kwargs(request, *given, **options)
        return {**known, "shows_held": may_change_all(request)}

    def add_success_message(self, result: Any, request: HttpRequest) -> None:
        super().add_success_message(result, request)
        for row in result.rows:
            if row.instance is not None:
                warn_about_mistakes(request, row.instance)


def warn_about_mistakes(request: HttpRequest, context: Context) -> None:
    for mistake in services.mistakes(context):
        messages.warning(request, f"{context}: {mistake}")


class TokenForm(forms.ModelForm[Token]):
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        contexts = None if cleaned.get("all_contexts") else list(cleaned.get("contexts") or [])
        try:
            tokens.check_default(cleaned.get("default_context"), contexts)
        except Invalid as error:
            self.add_error("default_context", error.message)
        return cleaned


class TokenRows(Rows):
    """Tokens without their digests."""

    columns = [
        *("user", "name", "hint", "is_read_only", "all_contexts", "contexts", "default_context"),
        *("created_at", "expires_at", "last_used_at", "revoked_at"),
    ]
    prefetched = ["user", "contexts", "default_context"]


@admin.register(Token)
class TokenAdmin(Exportable, ModelAdmin[Token]):
    """Superusers see the tokens of all users; other staff see and create their own."""

    group, icon = "Access", "key"
    about = "What assistants log in with. A token is shown once, when it is created."
    rows = TokenRows
    form = TokenForm
    list_display = [
        "name", "hint", "user", "is_read_only", "expires_at", "last_used_at", "revoked_at"
    ]  # fmt: skip
    list_filter = ["is_read_only", "user"]
    search_fields = ["name", "hint", "user__username"]
    fields = [
        "user", "name", "hint", "is_read_only", "all_contexts", "contexts", "default_context",
        "created_at", "expires_at", "last_used_at", "revoked_at",
    ]  # fmt: skip
    readonly_fields = ["hint", "created_at", "last_used_at", "revoked_at"]
    filter_horizontal = ["contexts"]
    actions = ["revoke_selected", *Exportable.actions]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Token]:
        all_tokens = super().get_queryset(request)
        if request.user.is_superuser:
            return all_tokens
        return all_tokens.filter(user=request.user.pk)

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> list[str]:
        return [*self.readonly_fields, "user"] if obj else self.readonly_fields

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "user" and not request.user.is_superuser:
            kwargs["queryset"] = get_user_model().objects.filter(pk=request.user.pk or 0)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        chosen = form.cleaned_data
        token, secret = tokens.create(
            obj.user,
            name=obj.name,
            expires_at=obj.expires_at,
            is_read_only=obj.is_read_only,
            contexts=None if chosen["all_contexts"] else list(chosen["contexts"]),
            default_context=obj.default_context,
        )
        obj.pk = token.pk
        messages.warning(request, f"Copy the token now, it is shown only once: {secret}")

    @admin.action(description="Revoke the selected tokens", permissions=["change"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        for token in queryset:
            tokens.revoke(token)
            self.log_change(request, token, "revoked")
        messages.success(request, "Revoked: they stop working with the next call")


class InContext(admin.SimpleListFilter):
    title = "context"
    parameter_name = "context"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in Context.objects.values_list("name", flat=True)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry]
    ) -> QuerySet[AuditEntry]:
        return queryset.filter(context=self.value()) if self.value() else queryset


class AuditRows(Rows):
    """Audit entries without connections, whose names may be session ids."""

    columns = [
        *("at", "principal", "user", "operation", "context", "door", "client"),
        *("outcome", "was_allowed", "milliseconds"),
    ]


@admin.register(AuditEntry)
class AuditEntryAdmin(Exportable, ReadOnly, ModelAdmin[AuditEntry]):
    group, icon = "Activity", "receipt_long"
    about = "Calls by user, with their outcome, and refused entries."
    rows = AuditRows
    list_display = [
        "at", "principal", "user", "operation", "context", "door", "client", "outcome",
        "was_allowed", "rounded_milliseconds",
    ]  # fmt: skip
    list_filter = ["was_allowed", "outcome", "door", InContext, "at"]
    list_select_related = ["user"]
    search_fields = ["principal", "user__username", "operation", "client", "connection"]
    fields = [
        *("at", "principal", "user", "operation", "context", "door", "client", "connection"),
        *("outcome", "was_allowed", "rounded_milliseconds"),
    ]
    readonly_fields = ["rounded_milliseconds"]

    @admin.display(description="milliseconds", ordering="milliseconds")
    def rounded_milliseconds(self, entry: AuditEntry) -> str:
        return f"{entry.milliseconds:.1f}"
