"""Encrypts stored secrets that must be read back, with a key derived from the secret key."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


class Undecipherable(ValueError):
    """The text was encrypted under another secret key."""


def encrypt(text: str) -> str:
    return encrypt_bytes(text.encode()).decode("ascii")


def decrypt(ciphertext: str) -> str:
    """Return the plain text. Raise Undecipherable."""
    return decrypt_bytes(ciphertext.encode()).decode()


def encrypt_bytes(content: bytes) -> bytes:
    return _cipher().encrypt(content)


def decrypt_bytes(encrypted: bytes) -> bytes:
    """Return the content. Raise Undecipherable."""
    try:
        return _cipher().decrypt(encrypted)
    except InvalidToken:
        raise Undecipherable from None


def _cipher() -> Fernet:
    key = hashlib.sha256(b"contextd stored secrets" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
