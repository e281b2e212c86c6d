"""Access tokens of an OAuth issuer: which count, and how a client finds that issuer."""

import hmac
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from jwt.utils import base64url_encode

from contextd import environment
from contextd.errors import TimedOut
from contexts import oauth
from tests.contexts import issuer as issuers
from tests.contexts.conftest import MakeContext, Post, grant
from tests.contexts.issuer import AUDIENCE, Issuer
from tests.plain_http import modern
from tests.server import environment_of_processes, web_process
from tests.waiting import is_true_within

pytestmark = pytest.mark.django_db(transaction=True)

METADATA = "/.well-known/oauth-protected-resource"
CHALLENGE = f'Bearer resource_metadata="https://contextd.example.com{METADATA}/mcp"'


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return issuers.new_key()


@pytest.fixture
def issuer(key: rsa.RSAPrivateKey, settings: Any) -> Iterator[Issuer]:
    """Return the configured issuer."""
    oauth.issuer_at.cache_clear()
    with issuers.running(key) as issuer:
        settings.CONTEXTD_OAUTH_ISSUER = issuer.url
        settings.CONTEXTD_OAUTH_AUDIENCE = AUDIENCE
        yield issuer
    oauth.issuer_at.cache_clear()


@pytest.fixture(autouse=True)
def ann_by_mail(ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(email="Ann@example.com")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_of_the_issuer_identifies_the_user_it_names(issuer: Issuer, ann: User) -> None:
    principal = oauth.principal_of(issuer.token())

    assert principal is not None
    assert (principal.name, principal.user_id, principal.is_local) == (
        f"user:{ann.pk}",
        ann.pk,
        False,
    )


def test_its_user_is_granted_contexts_as_with_any_token(
    issuer: Issuer, post: Post, ann: User, make_context: MakeContext
) -> None:
    token = bearer(issuer.token())
    backend = make_context()

    assert post("checkpoint_list", token=token).status_code == 200
    assert post("checkpoint_list", token=token, context="backend").status_code == 403
    grant(backend, ann)
    assert post("checkpoint_list", token=token, context="backend").status_code == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://other.example.com/mcp"},
        {"aud": None},
        {"iss": "https://evil.example.com"},
        {"iss": None},
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"nbf": int(time.time()) + 3600},
        {"email": "bob@example.com"},
        {"email": None},
        {"email": ""},
        {"email": ["ann@example.com"]},
        {"email_verified": False},
        {"email_verified": "false"},
    ],
)
def test_every_claim_of_a_token_must_be_valid(
    issuer: Issuer, post: Post, claims: dict[str, Any]
) -> None:
    answer = post("checkpoint_list", token=bearer(issuer.token(**claims)))

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == CHALLENGE


def signed_by_another(issuer: Issuer) -> str:
    return issuer.token(key=issuers.new_key())


def signed_with_the_public_key(issuer: Issuer) -> str:
    """Return a token signed with the public key, which the library itself refuses to create."""
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    _, claims, _ = issuer.token().split(".")
    header = base64url_encode(json.dumps({"alg": "HS256", "kid": issuers.KEY_ID}).encode())
    signed = f"{header.decode()}.{claims}"
    signature = base64url_encode(hmac.digest(public, signed.encode(), "sha256"))
    return f"{signed}.{signature.decode()}"


def not_signed(issuer: Issuer) -> str:
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    return jwt.encode(claims, "", "none", headers={"kid": issuers.KEY_ID})


def of_an_unknown_key(issuer: Issuer) -> str:
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    return jwt.encode(claims, issuer.key, "RS256", headers={"kid": "other"})


def no_token_at_all(issuer: Issuer) -> str:
    return "a.b.c"


@pytest.mark.parametrize(
    "forged",
    [
        signed_by_another,
        signed_with_the_public_key,
        not_signed,
        of_an_unknown_key,
        no_token_at_all,
    ],
)
def test_a_forged_token_is_refused(issuer: Issuer, post: Post, forged: Any) -> None:
    assert post("checkpoint_list", token=bearer(forged(issuer))).status_code == 401


def test_an_address_of_several_users_identifies_none_of_them(issuer: Issuer) -> None:
    User.objects.create_user("ann2", email="ann@EXAMPLE.com")

    assert oauth.principal_of(issuer.token()) is None


def test_an_inactive_user_is_refused(issuer: Issuer, ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_active=False)

    assert oauth.principal_of(issuer.token()) is None


def test_another_claim_names_the_user_by_user_name(
    issuer: Issuer, settings: Any, ann: User
) -> None:
    settings.CONTEXTD_OAUTH_USER_CLAIM = "preferred_username"

    principal = oauth.principal_of(issuer.token(preferred_username="ann"))

    assert principal is not None
    assert principal.user_id == ann.pk
    assert oauth.principal_of(issuer.token()) is None


def test_the_keys_are_fetched_once(issuer: Issuer) -> None:
    for _ in range(3):
        assert oauth.principal_of(issuer.token()) is not None
    oauth.principal_of(of_an_unknown_key(issuer))

    assert issuer.asked == ["/.well-known/oauth-authorization-server", "/keys"]


def test_openid_metadata_is_accepted(issuer: Issuer) -> None:
    metadata = issuer.documents.pop("/.well-known/oauth-authorization-server")
    issuer.documents["/.well-known/openid-configuration"] = metadata

    assert oauth.principal_of(issuer.token()) is not None


def test_the_metadata_of_an_issuer_with_a_path_is_found(issuer: Issuer, settings: Any) -> None:
    realm = f"{issuer.url}/realms/acme"
    settings.CONTEXTD_OAUTH_ISSUER = realm
    issuer.documents["/realms/acme/.well-known/openid-configuration"] = issuer.metadata(
        issuer=realm
    )

    assert oauth.principal_of(issuer.token(iss=realm)) is not None


def test_the_address_of_the_keys_can_be_given(issuer: Issuer, settings: Any) -> None:
    issuer.documents.pop("/.well-known/oauth-authorization-server")
    settings.CONTEXTD_OAUTH_JWKS_URL = f"{issuer.url}/keys"

    assert oauth.principal_of(issuer.token()) is not None


@pytest.mark.parametrize("metadata", [None, "nonsense", {"issuer": "https://evil.example.com"}])
def test_an_issuer_without_valid_metadata_does_not_answer(
    issuer: Issuer, post: Post, metadata: Any
) -> None:
    issuer.documents["/.well-known/oauth-authorization-server"] = metadata

    answer = post("checkpoint_list", token=bearer(issuer.token()))

    assert answer.status_code == 504
    assert "does not answer, so its tokens cannot be checked" in answer.json()["message"]


def test_an_issuer_that_did_not_answer_is_not_asked_again_at_once(
    issuer: Issuer, post: Post
) -> None:
    issuer.documents.clear()
    token = bearer(issuer.token())
    assert post("checkpoint_list", token=token).status_code == 504
    questions = len(issuer.asked)

    assert post("checkpoint_list", token=token).status_code == 504

    assert len(issuer.asked) == questions


BROKEN_KEY = {"kty": "RSA", "n": 5, "e": "AQAB"}


@pytest.mark.parametrize(
    "keys",
    [
        b"<html>maintenance</html>",
        b"\xff\xfe",
        [],
        {"keys": 5},
        {"keys": []},
        {"keys": [BROKEN_KEY]},
        None,
    ],
)
def test_an_issuer_without_readable_keys_is_not_asked_again_at_once(
    issuer: Issuer, post: Post, keys: Any
) -> None:
    issuer.documents["/keys"] = keys
    token = bearer(issuer.token())

    answers = [post("checkpoint_list", token=token) for _ in range(3)]

    assert {answer.status_code for answer in answers} == {504}
    assert issuer.asked.count("/keys") == 1


def test_known_keys_stay_valid_for_an_hour_while_the_issuer_does_not_answer(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issuer.token()
    assert oauth.principal_of(token) is not None
    issuer.documents.clear()

    monkeypatch.setattr(oauth, "CURRENT_SECONDS", 0)
    assert oauth.principal_of(token) is not None
    assert issuer.asked.count("/keys") == 2
    monkeypatch.setattr(oauth, "USABLE_SECONDS", 0)
    with pytest.raises(TimedOut):
        oauth.principal_of(token)


def test_an_issuer_that_hangs_stops_no_more_than_one_thread(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.may_answer.clear()
    monkeypatch.setattr(oauth, "WAIT_SECONDS", 0)
    token, key_of = issuer.token(), oauth.issuer_at(issuer.url, None).key_of
    with ThreadPoolExecutor(1) as pool:
        fetching = pool.submit(key_of, token)
        assert is_true_within(5, lambda: bool(issuer.asked))

        with pytest.raises(TimedOut):
            key_of(token)
        still_fetching = not fetching.done()
        issuer.may_answer.set()

        assert still_fetching
        assert fetching.result().key_id == issuers.KEY_ID


def test_a_short_fetch_is_awaited(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer.may_answer.clear()
    monkeypatch.setattr(oauth, "WAIT_SECONDS", 30)
    key_of = oauth.issuer_at(issuer.url, None).key_of
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(key_of, issuer.token()) for _ in range(2)]
        assert is_true_within(5, lambda: bool(issuer.asked))
        issuer.may_answer.set()

        assert {one.result().key_id for one in found} == {issuers.KEY_ID}
    assert issuer.asked.count("/keys") == 1


def test_without_an_issuer_its_tokens_and_addresses_are_unknown(
    issuer: Issuer, post: Post, settings: Any, client: Client
) -> None:
    settings.CONTEXTD_OAUTH_ISSUER = None

    answer = post("checkpoint_list", token=bearer(issuer.token()))

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert client.get(METADATA).status_code == 404
    assert client.get(f"{METADATA}/mcp").status_code == 404
    assert issuer.asked == []


def test_an_issuer_requires_an_audience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONTEXTD_OAUTH_ISSUER", "https://issuer.example.com")

    with pytest.raises(
        ImproperlyConfigured, match="CONTEXTD_OAUTH_AUDIENCE: required with CONTEXTD_OAUTH_ISSUER"
    ):
        environment.read()


def test_a_client_finds_the_issuer_and_authenticates(
    key: rsa.RSAPrivateKey, tmp_path: Path, ann: User
) -> None:
    """Authenticate over MCP, at a process that is configured by its environment."""
    with issuers.running(key) as issuer:
        configured = {
            **environment_of_processes(),
            "CONTEXTD_OAUTH_ISSUER": issuer.url,
            "CONTEXTD_OAUTH_AUDIENCE": AUDIENCE,
            "CONTEXTD_ANONYMOUS": "off",
        }
        with (
            web_process(configured, tmp_path / "log") as server,
            httpx2.Client(base_url=server.url) as http,
        ):
            call = modern("tools/call", name="door_whoami")
            refused = http.post("/mcp", **call)
            documents = [http.get(address).json() for address in (METADATA, f"{METADATA}/mcp")]
            call["headers"] |= bearer(issuer.token())
            accepted = http.post("/mcp", **call)

    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == CHALLENGE
    assert refused.json()["error"]["data"]["category"] == "unauthorized"
    assert documents[0] == documents[1]
    assert documents[0]["resource"] == AUDIENCE
    assert documents[0]["authorization_servers"] == [issuer.url]
    assert accepted.json()["result"]["structuredContent"]["principal"] == f"user:{ann.pk}"
