"""Who may call: access tokens."""

import hashlib
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q


class TokenQuerySet(models.QuerySet["Token"]):
    def valid_at(self, moment: datetime) -> Self:
        return self.filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=moment),
            revoked_at__isnull=True,
            user__is_active=True,
        )


class Token(models.Model):
    """A bearer token of a user. Only its digest is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="Where it is used, such as 'laptop'")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False, help_text="Its first characters")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


def digest_of(secret: str) -> str:
    """SHA-256: the secret is 256 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()
