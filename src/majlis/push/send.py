"""Sends the queue of pushes: encrypted for each browser, in parallel, within limits. Redirects are not followed.

A push service that does not respond holds at most a few of the slots, however many browsers its person has subscribed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections import Counter
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
from majlis.push.queue import claim_pushes, clean, has_work, is_due, settle_push
from majlis.push.wanted import RECENT_MILLIS
from majlis.secret_store import Cipher
from majlis.store.transactions import Database
from majlis.tools.reach.exchange import Exchange, Outgoing
from majlis.tools.reach.reach import Reach

_EVERY_SECONDS = 1.0
_CLEAN_MILLIS = 60_000
TIMEOUT_SECONDS = 15.0
# At once in this process.
MAX_SENDING = 32
_MAX_BODY = 200
_MAX_TITLE = 100
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
        # Each with the id of its person.
        self._sending: dict[asyncio.Task[None], str] = {}
        self._freed = asyncio.Event()
        self._clean_at = 0
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
                due_at = _now() + _EVERY_SECONDS
                try:
                    await self.send_due()
                    await self._claim_until(due_at)
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
        if clock.now() >= self._clean_at:
            self._clean_at = clock.now() + _CLEAN_MILLIS
            await self._db.write(clean)
        count = 0
        after: str | None = ""
        while after is not None:
            after = await self._db.write(fill_queue, after)
            count += await self._claim()
        return count

    async def _claim_until(self, end: float) -> None:
        """Uses slots that become free at once."""
        while await self._is_freed_before(end):
            self._freed.clear()
            if await self._db.read(is_due):
                await self._claim()

    async def _is_freed_before(self, end: float) -> bool:
        with contextlib.suppress(TimeoutError):
            # Not `wait_for`, which loses a cancellation that comes with the result.
            async with asyncio.timeout_at(end):
                return await self._freed.wait()
        return False

    async def _claim(self) -> int:
        count, more = 0, True
        while more and (room := MAX_SENDING - len(self._sending)) > 0:
            claimed, more = await self._db.write(claim_pushes, Counter(self._sending.values()), room)
            count += len(claimed)
            for row in claimed:
                task = asyncio.create_task(self._send(row))
                self._sending[task] = row.entity_id
                task.add_done_callback(self._done)
        return count

    def _done(self, task: asyncio.Task[None]) -> None:
        self._sending.pop(task, None)
        self._freed.set()
        if not task.cancelled() and task.exception() is not None:
            _logger.warning("a push could not be sent", error=type(task.exception()).__name__)

    async def _send(self, row: sa.Row[Any]) -> None:
        status = None
        try:
            outgoing = await self._outgoing(row)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status = await self._exchanges[row.by_admin].send_only(outgoing)
        except (TimeoutError, MajlisError) as error:
            _logger.info("a push service cannot be reached", error=type(error).__name__)
        await self._db.write(settle_push, row, status)

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


def _now() -> float:
    """The loop's time, which `majlis prove` simulates."""
    return asyncio.get_running_loop().time()


def topic_of(row: sa.Row[Any]) -> str:
    """Stands for the space. The push service does not know the browser's secret, so it learns neither the space's id
    nor that two browsers get pushes of the same space."""
    return encoded(hmac.digest(decoded(row.auth), f"topic {row.space_id}".encode(), "sha256")[:_TOPIC_BYTES])


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
