"""Sends the queue of pushes: encrypted for each browser, in parallel, within limits. Redirects are not followed."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa
import structlog

from majlis import clock
from majlis.errors import Forbidden, Invalid, MajlisError, Unavailable
from majlis.hosts import HostRule, parse_target
from majlis.outage import Outage
from majlis.push.encrypt import encrypt
from majlis.push.fill import fill_queue
from majlis.push.keys import authorization, decoded, encoded, public_part, push_key
from majlis.push.queue import claim_pushes, has_work, settle_push
from majlis.push.subscriptions import drop, drop_signed_out
from majlis.push.wanted import RECENT_MILLIS
from majlis.secret_store import Cipher
from majlis.store.transactions import Database
from majlis.tools.http.exchange import Exchange
from majlis.tools.http.request import Outgoing
from majlis.tools.reach.reach import Reach

_EVERY_SECONDS = 1.0
TIMEOUT_SECONDS = 15.0
MAX_SENDING = 16
_MAX_BODY = 200
_MAX_TITLE = 100
_GONE = (404, 410)
# 32 characters, the longest topic.
_TOPIC_BYTES = 24
_logger = structlog.get_logger(__name__)


class PushSender:
    def __init__(self, db: Database, cipher: Cipher, private_hosts: Sequence[str]) -> None:
        self._db = db
        self._cipher = cipher
        self._private = [HostRule.parse(text) for text in private_hosts]
        # Only admins of the gateway may name private hosts, which the owner lists for tools.
        self._reaches = {True: Reach(["*"], private_hosts), False: Reach(["*"])}
        self._exchanges = {by_admin: Exchange(reach) for by_admin, reach in self._reaches.items()}
        self._sending: set[asyncio.Task[None]] = set()
        self._key: str | None = None

    async def public_key(self) -> str:
        return public_part(await self._private_key())

    async def check(self, endpoint: str, by_admin: bool) -> None:
        """The endpoint is given by the browser, so it may be any address that a member made up."""
        try:
            target = parse_target(endpoint)
            allowed = by_admin and any(rule.covers(target) for rule in self._private)
            if target.scheme != "https" and not allowed:
                raise Invalid("bad_url", "its URL has to begin with https.")
            await self._reaches[by_admin].addresses(target)
        except (Forbidden, Invalid, Unavailable) as error:
            problem = f"This is not the endpoint of a push service: {error.message}"
            raise Invalid("invalid_request", problem, {"path": "endpoint"}) from None

    async def send_forever(self) -> None:
        outage = Outage("sending push notifications")
        try:
            while True:
                try:
                    await self.send_due()
                    outage.worked()
                except Exception as error:
                    outage.failed(error)
                await asyncio.sleep(_EVERY_SECONDS)
        finally:
            for task in self._sending:
                task.cancel()
            await asyncio.gather(*self._sending, return_exceptions=True)

    async def send_due(self) -> int:
        """Begins to send what is due, and returns how many pushes those are."""
        if not await self._db.read(has_work):
            return 0
        await self._db.write(drop_signed_out)
        await self._db.write(fill_queue)
        room = MAX_SENDING - len(self._sending)
        claimed = await self._db.write(claim_pushes, room) if room > 0 else []
        for row in claimed:
            task = asyncio.create_task(self._send(row))
            self._sending.add(task)
            task.add_done_callback(self._done)
        return len(claimed)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _logger.warning("a push could not be sent", error=type(task.exception()).__name__)

    async def _send(self, row: sa.Row[Any]) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status = await self._exchanges[row.by_admin].send_only(await self._outgoing(row))
        except (TimeoutError, MajlisError) as error:
            _logger.info("a push service cannot be reached", error=type(error).__name__)
            status = 0
        if status in _GONE:
            await self._db.write(drop, row.subscription_id)
        else:
            await self._db.write(settle_push, row, not status or status == 429 or status >= 500)

    async def _outgoing(self, row: sa.Row[Any]) -> Outgoing:
        target = parse_target(row.endpoint)
        content = encrypt(content_of(row), decoded(row.p256dh), decoded(row.auth))
        audience = f"{target.scheme}://{target.authority}"
        headers = {
            "content-type": "application/octet-stream",
            "content-encoding": "aes128gcm",
            "content-length": str(len(content)),
            # How long the push service keeps it for a browser that is off. A newer push of the topic replaces it.
            "ttl": str(RECENT_MILLIS // 1000),
            "topic": topic_of(row),
            "urgency": "high",
            "authorization": authorization(await self._private_key(), audience, row.origin, clock.now()),
        }
        return Outgoing("POST", target, headers, content)

    async def _private_key(self) -> str:
        if self._key is None:
            self._key = await self._db.write(push_key, self._cipher)
        return self._key


def content_of(row: sa.Row[Any]) -> bytes:
    """The notification, for the service worker. The newest message of a space replaces the one before."""
    sender, space = row.sender_name, row.space_name
    text = " ".join(row.text[: 4 * _MAX_BODY].split()) or ", ".join(file["name"] for file in row.files or ())
    shown = {
        "title": _cut(sender if row.direct_key is not None else f"{sender} · {space}", _MAX_TITLE),
        "body": _cut(text, _MAX_BODY),
        "tag": row.space_id,
        "path": f"/spaces/{row.space_id}/messages/{row.message_id}",
    }
    return orjson.dumps(shown)


def topic_of(row: sa.Row[Any]) -> str:
    """Stands for the space. The push service does not know the browser's secret, so it learns neither the space's id
    nor that two browsers get pushes of the same space."""
    return encoded(hmac.digest(decoded(row.auth), f"topic {row.space_id}".encode(), "sha256")[:_TOPIC_BYTES])


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
