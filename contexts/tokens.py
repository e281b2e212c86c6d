"""Bearer tokens: creation, look-up and revocation."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from contextd import changes
from contextd.callers import CredentialLapsed, Principal
from contextd.errors import Invalid
from contexts import lookups, oauth
from contexts.lookups import KnownToken
from contexts.models import Context, Token, digest_of

PREFIX = "ctx_"
USE_INTERVAL = timedelta(minutes=1)


def create(
    user: AbstractBaseUser,
    *,
    name: str,
    expires_at: datetime | None = None,
    is_read_only: bool = False,
    contexts: Sequence[Context] | None = None,
    default_context: Context | None = None,
) -> tuple[Token, str]:
    """Return the stored token and its secret, which is shown only once.

    `contexts` are the only ones it may be used in; a single one is also its default.
    """
    if contexts is not None and default_context is None and len(contexts) == 1:
        default_context = contexts[0]
    check_default(default_context, contexts)
    secret = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = Token.objects.create(
            user_id=user.pk,
            name=name,
            digest=digest_of(secret),
            hint=secret[: len(PREFIX) + 4],
            expires_at=expires_at,
            is_read_only=is_read_only,
            all_contexts=contexts is None,
            default_context=default_context,
        )
        token.contexts.set(contexts or ())
    return token, secret


def check_default(default: Context | None, contexts: Sequence[Context] | None) -> None:
    """Raise Invalid if the token could not be used in its own default context."""
    if default is not None and contexts is not None and default not in contexts:
        raise Invalid(
            f"the default context {default.name!r} is not among those the token may be used in"
        )


def revoke(token: Token) -> None:
    Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    changes.announce_access()


def principal_of(secret: str) -> Principal | None:
    """Return the owner of the secret, or None if it is unknown. Raise CredentialLapsed.

    The look-up is by digest, so its time reveals nothing about the secret. A secret that is not one
    of our own tokens may be a token of the OAuth issuer.
    """
    if not secret.startswith(PREFIX):
        return oauth.principal_of(secret)
    token = lookups.token(digest_of(secret))
    if token is None:
        return None
    now = timezone.now()
    principal = Principal(
        name=f"user:{token.user_id}",
        user_id=token.user_id,
        is_read_only=token.is_read_only,
        contexts=None if token.all_contexts else frozenset(token.contexts),
        default_context=token.default_context,
    )
    if reason := lapsed(token, now):
        raise CredentialLapsed(f"the token {token.name!r} {reason}; ask for a new one", principal)
    note_use(token, now)
    return principal


def lapsed(token: KnownToken, now: datetime) -> str | None:
    """Return why the token is no longer valid, or None if it is."""
    if token.revoked_at is not None:
        return "was revoked"
    if token.expires_at is not None and token.expires_at <= now:
        return "has expired"
    if not token.is_user_active:
        return "belongs to a user who is not active"
    return None


def note_use(token: KnownToken, now: datetime) -> None:
    if token.last_used_at is None or now - token.last_used_at > USE_INTERVAL:
        Token.objects.filter(pk=token.id).update(last_used_at=now)
