"""A browser that is subscribed to push notifications: its keys, and a real push service that receives for it."""

from __future__ import annotations

import base64
import os
import struct
from typing import Any

import orjson
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt
from joserfc.jwk import ECKey

from majlis.store.tables import pushes
from tests.conditions import until
from tests.webhooks.receiver import Received, Receiver
from tests.world import Person, World

PATH = "/api/me/push"


class Browser:
    def __init__(self, service: Receiver, name: str = "phone") -> None:
        self.service = service
        self.endpoint = f"http://{service.host}/{name}"
        self.name = name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)

    @property
    def point(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    async def subscribe(self, person: Person, **more: Any) -> None:
        keys = {"p256dh": text(self.point), "auth": text(self.auth)}
        await person.ok("PUT", PATH, {"endpoint": self.endpoint, "keys": keys, **more})

    def shown(self) -> list[Any]:
        """What this browser's service worker is given, in the order of arrival."""
        return [self.open(each) for each in self.service.got if each.path == f"/{self.name}"]

    def bodies(self) -> list[str]:
        return [each["body"] for each in self.shown()]

    async def until_shown(self, *bodies: str) -> None:
        await until(lambda: len(self.bodies()) >= len(bodies))
        assert sorted(self.bodies()) == sorted(bodies)

    def open(self, received: Received) -> Any:
        """Decrypts as RFC 8291 says."""
        assert received.headers["content-encoding"] == "aes128gcm"
        salt, (size, length) = received.body[:16], struct.unpack(">IB", received.body[16:21])
        sender, record = received.body[21 : 21 + length], received.body[21 + length :]
        assert len(record) <= size
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = derived(shared, self.auth, b"WebPush: info\0" + self.point + sender, 32)
        key = derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
        plain = AESGCM(key).decrypt(derived(secret, salt, b"Content-Encoding: nonce\0", 12), record, None)
        return orjson.loads(plain.rstrip(b"\0").removesuffix(b"\2"))


def derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def claims(received: Received, public_key: str) -> dict[str, Any]:
    """The claims of the token with which the gateway identifies itself. It is signed with the key that browsers
    know."""
    scheme, _, parts = received.headers["authorization"].partition(" ")
    values = dict(part.strip().split("=", 1) for part in parts.split(","))
    assert (scheme, values["k"]) == ("vapid", public_key)
    point = base64.urlsafe_b64decode(public_key + "=")
    key = ECKey.import_key({"kty": "EC", "crv": "P-256", "x": text(point[1:33]), "y": text(point[33:])})
    return dict(jwt.decode(values["t"], key, algorithms=["ES256"]).claims)


async def admin(world: World, name: str) -> Person:
    """Only admins may name hosts on this machine."""
    return await world.person(name, role="admin")


async def until_over(world: World) -> None:
    """Nothing is in the queue."""
    left = sa.select(pushes.c.message_id).where(pushes.c.due_at.is_not(None)).limit(1)

    async def holds() -> bool:
        return await world.gateway.db.read(lambda tx: tx.one(left)) is None

    await until(holds)
