"""Stores secrets (G14) encrypted under a name. Each is sent only to the hosts it is bound to.

No interface returns a value. `SecretStore.get` hands it to the code that sends it.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis import clock
from majlis.audit.record import RUNNING, Actor, record, record_secret_use
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.errors import Forbidden, Invalid, NotFound, Unavailable
from majlis.hosts import HOST, HostRule, Target
from majlis.store.tables import secrets
from majlis.store.transactions import Database, Tx

MAX_VALUE = 16 * 1024
MAX_HOSTS = 50
MAX_SECRETS = 1000
PREFIX = "secret:"
COMMAND = "command:"
"""An entry of `hosts` for the program of an MCP server that may get the secret, such as `command:uvx`."""
NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_NAME = re.compile(NAME)
_PROGRAM = re.compile(r"command:[^\s\x00-\x1f]{1,200}")
_NOTED_EVERY = 60_000

_ROW = sa.select(secrets).where(secrets.c.name == sa.bindparam("name"))
_NOTE_USE = (
    secrets.update()
    .where(secrets.c.name == sa.bindparam("which"))
    .values(last_used_at=sa.bindparam("at", type_=sa.BigInteger))
)


class SecretJson(TypedDict):
    name: str
    hosts: list[str]
    createdAt: str
    lastUsedAt: str | None


class Cipher:
    """AES-256-GCM. The name is authenticated too: a value that is moved to another name cannot be opened."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, name: str, value: str) -> str:
        nonce = os.urandom(12)
        return base64.b64encode(nonce + self._aead().encrypt(nonce, value.encode(), name.encode())).decode()

    def open(self, name: str, sealed: str) -> str:
        data = base64.b64decode(sealed)
        return str(self._aead().decrypt(data[:12], data[12:], name.encode()).decode())

    def _aead(self) -> Any:
        # Takes 30 ms to import, and most processes need no secret.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key)


def list_secrets(tx: Tx, caller: Caller) -> list[SecretJson]:
    require_administrator(caller)
    return [_shown(row) for row in tx.all(sa.select(secrets).order_by(secrets.c.name))]


def put_secret(tx: Tx, caller: Caller, cipher: Cipher, name: str, value: str, hosts: Sequence[str]) -> SecretJson:
    """Replaces the value and the hosts together: binding a value that is already stored to another host would give it
    away."""
    require_administrator(caller)
    _check(name, value, hosts)
    row = {
        "value": cipher.seal(name, value),
        "hosts": [host.lower() if not host.startswith(COMMAND) else host for host in hosts],
        "set_by": caller.id,
        "set_by_owner": caller.role == "owner",
        "changed_at": tx.now,
    }
    if tx.execute(secrets.update().where(secrets.c.name == name).values(**row, last_used_at=None)).rowcount == 0:
        if tx.execute(sa.select(sa.func.count()).select_from(secrets)).scalar_one() >= MAX_SECRETS:
            raise Invalid("too_many_secrets", f"There are already {MAX_SECRETS} secrets. Remove one first.")
        tx.execute(secrets.insert(), {"name": name, "created_at": tx.now, **row})
    record(tx, caller, "secret.set", name, hosts=row["hosts"])
    return _shown(tx.execute(_ROW, {"name": name}).one())


def delete_secret(tx: Tx, caller: Caller, name: str) -> None:
    require_administrator(caller)
    if tx.execute(secrets.delete().where(secrets.c.name == name)).rowcount == 0:
        raise NotFound("unknown_secret", "No secret has this name.")
    record(tx, caller, "secret.removed", name)


class Secret(NamedTuple):
    name: str
    value: str
    hosts: tuple[str, ...]
    set_by_owner: bool
    last_used_at: int | None = None

    def allows(self, place: Target | str) -> bool:
        """`place` is a host, or `command:` and the program that gets the secret in its environment."""
        if isinstance(place, str):
            return place in self.hosts
        rules = (HostRule.parse(host) for host in self.hosts if not host.startswith(COMMAND))
        return any(rule.covers(place, any_port=True) for rule in rules)


class SecretStore:
    """Reads secrets for one process, and remembers the values it has read, to mask them in results."""

    def __init__(self, db: Database, cipher: Cipher) -> None:
        self._db = db
        self.cipher = cipher
        self.read: dict[str, str] = {}
        # The last entry of each secret in the audit log, so that most repeats need no write.
        self._recorded: dict[str, tuple[str, str]] = {}

    async def get(self, name: str) -> Secret:
        """The caller must check `allows` before it sends the value."""
        row = await self._db.read(lambda tx: tx.one(_ROW, {"name": name}))
        if row is None:
            raise Forbidden(
                "unknown_secret", f"the secret {name} is not stored. Ask an admin of this gateway to store it."
            )
        value = self._open(name, row.value)
        self.read[name] = value
        return Secret(name, value, tuple(row.hosts), row.set_by_owner, row.last_used_at)

    async def opened(self, name: str) -> tuple[str, str]:
        """The value as it is stored, and in plain text. It is not remembered, and the caller must not send it
        anywhere."""
        row = await self._db.read(lambda tx: tx.one(_ROW, {"name": name}))
        if row is None:
            raise NotFound("unknown_secret", f"the secret {name} is not stored.")
        return str(row.value), self._open(name, row.value)

    async def swap(self, name: str, sealed: str, value: str, actor: Actor | None = None) -> str | None:
        """Replaces the value if it is still as it was stored. Returns the new one as it is stored, or None."""
        new = self.cipher.seal(name, value)

        def write(tx: Tx) -> str | None:
            changed = secrets.update().where(secrets.c.name == name, secrets.c.value == sealed)
            if tx.execute(changed.values(value=new, changed_at=tx.now)).rowcount == 0:
                return None
            if actor is not None:
                record(tx, actor, "secret.set", name)
            return new

        return await self._db.write(write)

    async def send_to(self, name: str, place: Target | str) -> str:
        """The value, if it may be sent there."""
        found = await self.get(name)
        if not found.allows(place):
            where = place if isinstance(place, str) else place.authority
            raise Forbidden(
                "secret_not_allowed",
                f"the secret {name} must not be sent to {where}. Ask an admin to store it for this host.",
            )
        await self.note_use(found, place)
        return found.value

    def _open(self, name: str, sealed: str) -> str:
        try:
            return self.cipher.open(name, sealed)
        except Exception:
            raise Unavailable(
                "unreadable_secret",
                f"the secret {name} cannot be decrypted. Ask an admin of this gateway to store it again.",
            ) from None

    async def note_use(self, secret: Secret, place: Target | str) -> None:
        """At most once a minute; in the audit log once per host and run (G9)."""
        if secret.last_used_at is None or clock.now() - secret.last_used_at >= _NOTED_EVERY:
            await self._db.write(lambda tx: tx.execute(_NOTE_USE, {"which": secret.name, "at": tx.now}))
        running = RUNNING.get()
        host = place if isinstance(place, str) else place.authority
        if running is None or self._recorded.get(secret.name) == (host, running.run_id):
            return
        await self._db.write(record_secret_use, running, secret.name, host, running.run_id)
        self._recorded[secret.name] = (host, running.run_id)


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(
            "invalid_name",
            "name should start with a letter or _ and contain only letters, digits, _ and -, at most 64 characters.",
            {"path": "name"},
        )


def _check(name: str, value: str, hosts: Sequence[str]) -> None:
    check_name(name)
    if not value.strip() or len(value) > MAX_VALUE or any(each < " " and each not in "\t\r\n" for each in value):
        raise Invalid(
            "invalid_value",
            f"value should be text of 1 to {MAX_VALUE} characters without control characters.",
            {"path": "value"},
        )
    for index, host in enumerate(hosts):
        if not (_PROGRAM if host.startswith(COMMAND) else HOST).fullmatch(host) or host.startswith("*:") or host == "*":
            raise Invalid(
                "invalid_host",
                f"{host[:100]} is not a host; use api.example.com, *.example.com, localhost:9000 or command:uvx.",
                {"path": f"hosts.{index}"},
            )


def _shown(row: sa.Row[Any]) -> SecretJson:
    return {
        "name": row.name,
        "hosts": list(row.hosts),
        "createdAt": iso(row.created_at),
        "lastUsedAt": iso(row.last_used_at) if row.last_used_at is not None else None,
    }
