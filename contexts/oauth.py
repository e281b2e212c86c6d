"""Access tokens of an OAuth 2.1 issuer; contextd is a resource server for it."""

import logging
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from pydantic import BaseModel, ValidationError

from contextd import limits
from contextd.callers import Principal
from contextd.errors import TimedOut

# Only algorithms with a public key, so that nobody can sign with what the issuer publishes.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
LOOKUP_SECONDS = 5
CLOCK_SKEW_SECONDS = 10
RETRY_SECONDS = 10
WAIT_SECONDS = 1
"""How long other threads wait for a fetch, counted from its start."""
CURRENT_SECONDS = 5 * 60
USABLE_SECONDS = 60 * 60
UNKNOWN_KEY_SECONDS = 30
"""How long an issuer is not asked again for a key that it did not have."""

NO_ANSWER = (httpx2.HTTPError, httpx2.InvalidURL, jwt.PyJWTError, ValueError)
"""The errors of a fetch: no answer, or one that has no keys in it."""

logger = logging.getLogger(__name__)


def principal_of(token: str) -> Principal | None:
    """Return the principal of a token of the configured issuer, or None if it is not valid here.

    Signature, issuer, audience and expiry are checked, and its user must exist here.
    """
    if not settings.CONTEXTD_OAUTH_ISSUER:
        return None
    try:
        claims = verified(token)
    except jwt.PyJWTError as error:
        logger.info("an OAuth token was refused: %s", error)
        return None
    user = user_of(claims)
    return Principal(name=f"user:{user.pk}", user_id=user.pk) if user else None


def verified(token: str) -> dict[str, Any]:
    issuer = issuer_at(settings.CONTEXTD_OAUTH_ISSUER, settings.CONTEXTD_OAUTH_JWKS_URL)
    claims: dict[str, Any] = jwt.decode(
        token,
        issuer.key_of(token),
        algorithms=ALGORITHMS,
        audience=settings.CONTEXTD_OAUTH_AUDIENCE,
        issuer=issuer.name,
        leeway=CLOCK_SKEW_SECONDS,
        options={"require": ["exp", "iss", "aud"]},
    )
    return claims


def user_of(claims: dict[str, Any]) -> AbstractBaseUser | None:
    """Return the only active user that the token names, by e-mail address or user name."""
    claim = settings.CONTEXTD_OAUTH_USER_CLAIM
    name = claims.get(claim)
    if not isinstance(name, str) or not name:
        logger.warning("an OAuth token has no claim %r (CONTEXTD_OAUTH_USER_CLAIM)", claim)
        return None
    if claim == "email" and claims.get("email_verified", True) not in (True, "true"):
        logger.warning("an OAuth token has an e-mail address that its issuer has not verified")
        return None
    field = "email__iexact" if claim == "email" else "username"
    users = get_user_model().objects.filter(**{field: name}, is_active=True)[:2]
    if len(users) != 1:
        logger.warning("an OAuth token names %r, and %d active users match", name, len(users))
        return None
    return users[0]


@dataclass(frozen=True, slots=True)
class Keys:
    """The published keys by id, and when they were fetched."""

    by_id: Mapping[str, jwt.PyJWK]
    fetched_at: float

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self.fetched_at

    def is_current(self, key_id: str) -> bool:
        """Return whether the issuer need not be asked for the key."""
        limit = CURRENT_SECONDS if key_id in self.by_id else UNKNOWN_KEY_SECONDS
        return self.age_seconds < limit


NO_KEYS = Keys({}, -math.inf)


class Issuer:
    """The issuer's keys: fetched when needed, by one thread at a time."""

    def __init__(self, name: str, jwks_url: str | None) -> None:
        self.name = name
        self._jwks_url = jwks_url
        self._keys = NO_KEYS
        self._fetching = threading.Lock()
        self._fetch_began = 0.0
        self._silent_until = 0.0

    def key_of(self, token: str) -> jwt.PyJWK:
        """Return the key that the token names. Raise TimedOut if it cannot be fetched now.

        While the issuer does not answer, the last keys stay valid for `USABLE_SECONDS`.
        """
        key_id: str = jwt.get_unverified_header(token).get("kid", "")
        if not self._keys.is_current(key_id):
            self._refresh(key_id)
        keys = self._keys
        if key_id in keys.by_id and keys.age_seconds < USABLE_SECONDS:
            return keys.by_id[key_id]
        if keys.is_current(key_id):
            raise jwt.PyJWKClientError("the issuer has no key with the id that the token names")
        raise TimedOut(
            f"the OAuth issuer {self.name} does not answer, so its tokens cannot be checked"
        )

    def _refresh(self, key_id: str) -> None:
        """Fetch the keys, unless another thread does so already: never wait for it for long.

        The few threads that authenticate are shared with callers that need no issuer.
        """
        left_to_wait = self._fetch_began + WAIT_SECONDS - time.monotonic()
        if not self._fetching.acquire(timeout=max(0, left_to_wait)):
            return
        try:
            if not self._keys.is_current(key_id) and time.monotonic() >= self._silent_until:
                self._fetch()
        finally:
            self._fetching.release()

    def _fetch(self) -> None:
        self._fetch_began = time.monotonic()
        try:
            self._jwks_url = self._jwks_url or discover(self.name)
            self._keys = Keys(published_at(self._jwks_url), time.monotonic())
        except NO_ANSWER as error:
            self._silent_until = time.monotonic() + RETRY_SECONDS
            logger.warning("the OAuth issuer %s does not answer: %s", self.name, error)


issuer_at = cache(Issuer)


def seconds_left() -> float:
    return max(0.1, min(LOOKUP_SECONDS, limits.time_left()))


class Metadata(BaseModel):
    """The part of an issuer's metadata that is needed here."""

    issuer: str
    jwks_uri: str


def discover(issuer: str) -> str:
    """Return where its keys are, from its metadata (RFC 8414, else OpenID Connect)."""
    for address in metadata_addresses(issuer):
        response = httpx2.get(address, timeout=seconds_left())
        try:
            metadata = Metadata.model_validate_json(response.content)
        except ValidationError:
            continue
        if metadata.issuer == issuer:
            return metadata.jwks_uri
    raise httpx2.HTTPError(f"no metadata at {issuer}")


class KeySet(BaseModel):
    """The keys of an issuer (RFC 7517)."""

    keys: list[dict[str, Any]]


def published_at(address: str) -> dict[str, jwt.PyJWK]:
    """Return the usable signing keys by id."""
    response = httpx2.get(address, timeout=seconds_left()).raise_for_status()
    published = jwt.PyJWKSet(KeySet.model_validate_json(response.content).keys)
    return {
        key.key_id: key
        for key in published.keys
        if isinstance(key.key_id, str) and key.public_key_use in ("sig", None)
    }


def metadata_addresses(issuer: str) -> list[str]:
    parts = urlsplit(issuer.rstrip("/"))
    origin = f"{parts.scheme}://{parts.netloc}"
    return [
        f"{origin}/.well-known/oauth-authorization-server{parts.path}",
        f"{origin}/.well-known/openid-configuration{parts.path}",
        f"{origin}{parts.path}/.well-known/openid-configuration",
    ]
