"""Who a token stands for, and what a caller may use."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from contextd.callers import Caller, Principal
from contextd.operations import Operation
from contexts.models import Token, digest_of

PREFIX = "ctx_"
USE_IS_NOTED_EVERY = timedelta(minutes=1)


def create_token(
    user: AbstractBaseUser, *, name: str, expires_at: datetime | None = None
) -> tuple[Token, str]:
    """The stored token and its secret, which is shown this one time."""
    secret = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        user_id=user.pk,
        name=name,
        digest=digest_of(secret),
        hint=secret[: len(PREFIX) + 4],
        expires_at=expires_at,
    )
    return token, secret


def revoke_token(token: Token) -> None:
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def principal_of_token(secret: str) -> Principal | None:
    """Whom the secret stands for; None when it is unknown, expired or revoked.

    The look-up is by digest, so its time tells nothing about the secret.
    """
    now = timezone.now()
    token = Token.objects.valid_at(now).filter(digest=digest_of(secret)).first()
    if token is None:
        return None
    _note_use(token, now)
    return Principal(name=f"user:{token.user_id}", user_id=token.user_id)


def _note_use(token: Token, now: datetime) -> None:
    if token.last_used_at is None or now - token.last_used_at > USE_IS_NOTED_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


def authorize(operation: Operation, caller: Caller) -> None:
    """Every known caller may use every operation."""
