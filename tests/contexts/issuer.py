"""An OAuth issuer to test against: a real HTTP server with real keys."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.http_server import QuietHandler, serving

HANG_SECONDS = 60
KEY_ID = "key-1"
AUDIENCE = "https://contextd.example.com/mcp"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer:
    """Serves what is in `documents`, by path, and notes what was asked for.

    It hangs while `may_answer` is not set. A document of bytes is served as it is.
    """

    def __init__(self, url: str, key: rsa.RSAPrivateKey) -> None:
        self.url = url
        self.key = key
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.documents: dict[str, Any] = {
            "/.well-known/oauth-authorization-server": self.metadata(),
            "/keys": {"keys": [jwk_of(key)]},
        }

    def metadata(self, **changed: Any) -> dict[str, Any]:
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **changed}

    def token(self, key: Any = None, algorithm: str = "RS256", **claims: Any) -> str:
        """A token of ann's for us; a claim that is None is left away."""
        now = int(time.time())
        given = {
            "iss": self.url,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + 300,
            "email": "ann@example.com",
            **claims,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return jwt.encode(given, key or self.key, algorithm, headers={"kid": KEY_ID})


def jwk_of(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    public: dict[str, Any] = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    return {**public, "kid": KEY_ID, "use": "sig", "alg": "RS256"}


@contextmanager
def running(key: rsa.RSAPrivateKey) -> Iterator[Issuer]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            issuer.may_answer.wait(HANG_SECONDS)
            document = issuer.documents.get(self.path)
            self.send_response(404 if document is None else 200)
            self.end_headers()
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.wfile.write(body)

    with serving(Handler) as address:
        issuer = Issuer(address, key)
        yield issuer
