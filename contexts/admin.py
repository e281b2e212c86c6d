from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from contexts import services
from contexts.models import Token


@admin.register(Token)
class TokenAdmin(admin.ModelAdmin[Token]):
    list_display = [
        "name",
        "hint",
        "user",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    ]
    list_filter = ["user"]
    search_fields = ["name", "hint", "user__username"]
    readonly_fields = ["hint", "created_at", "last_used_at", "revoked_at"]
    actions = ["revoke_selected"]

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> list[str]:
        return [*self.readonly_fields, "user"] if obj else self.readonly_fields

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        token, secret = services.create_token(obj.user, name=obj.name, expires_at=obj.expires_at)
        obj.pk = token.pk
        messages.warning(request, f"Copy the token now, it is shown this one time: {secret}")

    @admin.action(description="Revoke the selected tokens", permissions=["change"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        for token in queryset:
            services.revoke_token(token)
        messages.success(request, "Revoked: they stop working with the next call")
