"""Access tokens of an OAuth 2.1 issuer; contextd is a resource server for it."""

import logging
import threading
import time
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from jwt.exceptions import PyJWKClientConnectionError
from pydantic import BaseModel, ValidationError

from contextd import limits
from contextd.callers import Principal
from contextd.errors import TimedOut

# Only algorithms with a public key, so that nobody can sign with what the issuer publishes.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
LOOKUP_SECONDS = 5
CLOCK_SKEW_SECONDS = 10
RETRY_SECONDS = 10

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


class Issuer:
    """The issuer's keys: fetched when needed, then kept for minutes."""

    def __init__(self, name: str, jwks_url: str | None) -> None:
        self.name = name
        self._jwks_url = jwks_url
        self._client: jwt.PyJWKClient | None = None
        self._lock = threading.Lock()
        self._silent_until = 0.0

    def key_of(self, token: str) -> jwt.PyJWK:
        """Return the key. Raise TimedOut while the issuer does not answer."""
        jwt.get_unverified_header(token)  # anything but a JWT needs no request to the issuer
        with self._lock:
            if time.monotonic() < self._silent_until:
                raise no_answer(self.name)
            try:
                return self._keys().get_signing_key_from_jwt(token)
            except (PyJWKClientConnectionError, httpx2.HTTPError):
                self._silent_until = time.monotonic() + RETRY_SECONDS
                logger.warning("the OAuth issuer %s does not answer", self.name)
                raise no_answer(self.name) from None

    def _keys(self) -> jwt.PyJWKClient:
        if self._client is None:
            self._client = jwt.PyJWKClient(self._jwks_url or discover(self.name))
        self._client.timeout = seconds_left()
        return self._client


issuer_at = cache(Issuer)


def seconds_left() -> float:
    return max(0.1, min(LOOKUP_SECONDS, limits.time_left()))


def no_answer(issuer: str) -> TimedOut:
    return TimedOut(f"the OAuth issuer {issuer} does not answer, so its tokens cannot be checked")


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


def metadata_addresses(issuer: str) -> list[str]:
    parts = urlsplit(issuer.rstrip("/"))
    origin = f"{parts.scheme}://{parts.netloc}"
    return [
        f"{origin}/.well-known/oauth-authorization-server{parts.path}",
        f"{origin}/.well-known/openid-configuration{parts.path}",
        f"{origin}{parts.path}/.well-known/openid-configuration",
    ]
