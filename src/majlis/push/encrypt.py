"""Encrypts the content of a push so that only the browser can read it (RFC 8291, `aes128gcm`)."""

from __future__ import annotations

import os
import struct
from typing import Any

# The content and its padding are one record.
_RECORD_BYTES = 4096


def encrypt(content: bytes, p256dh: bytes, auth: bytes, key: Any = None, salt: bytes | None = None) -> bytes:
    """`p256dh` and `auth` are the browser's. `key` and `salt` are only for the RFC's example. Raises ValueError if
    `p256dh` is not a point of the curve."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), p256dh)
    ours = key or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(16)
    point = ours.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    secret = _derived(ours.exchange(ec.ECDH(), theirs), auth, b"WebPush: info\0" + p256dh + point, 32)
    content_key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    # The last record ends with a 2.
    record = AESGCM(content_key).encrypt(nonce, content + b"\x02", None)
    return salt + struct.pack(">IB", _RECORD_BYTES, len(point)) + point + record


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, salt, info).derive(secret)
