"""The key with which this gateway identifies itself to push services (VAPID, RFC 8292). Made once, kept encrypted."""

from __future__ import annotations

import base64
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.secret_store import Cipher
from majlis.store.tables import gateway
from majlis.store.transactions import Tx

_NAME = "vapid_key"
# Push services accept at most a day.
_VALID_SECONDS = 12 * 3600


def push_key(tx: Tx, cipher: Cipher) -> str:
    """The private key in PEM. Two nodes that ask first at the same time get the same one."""
    found = _stored(tx)
    if found is None:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        made = ec.generate_private_key(ec.SECP256R1())
        pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(gateway)
        tx.execute(insert.on_conflict_do_nothing(), {"key": _NAME, "value": cipher.seal(_NAME, pem)})
        found = _stored(tx)
    assert found is not None
    return cipher.open(_NAME, found)


def public_part(pem: str) -> str:
    """The public key as browsers take it: the uncompressed point in base64url."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    public = load_pem_private_key(pem.encode(), None).public_key()
    return encoded(public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def authorization(pem: str, audience: str, subject: str, now: int) -> str:
    """The header for one push service. `subject` is an address under which it can reach the operator."""
    from joserfc import jwt
    from joserfc.jwk import ECKey

    claims = {"aud": audience, "exp": now // 1000 + _VALID_SECONDS, "sub": subject}
    token = jwt.encode({"typ": "JWT", "alg": "ES256"}, claims, ECKey.import_key(pem))
    return f"vapid t={token}, k={public_part(pem)}"


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _stored(tx: Tx) -> str | None:
    value: str | None = tx.execute(sa.select(gateway.c.value).where(gateway.c.key == _NAME)).scalar_one_or_none()
    return value
