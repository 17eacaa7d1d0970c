"""Sends the queue of outgoing webhooks: signed by Standard Webhooks, in parallel, within limits.

A slow receiver holds at most a few of the slots. Redirects are not followed, and responses are not read.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import sqlalchemy as sa
import structlog

from majlis import __version__, clock
from majlis.errors import Forbidden, MajlisError
from majlis.hosts import parse_target
from majlis.outage import Outage
from majlis.secret_store import Cipher
from majlis.store.transactions import Database
from majlis.tools.reach.exchange import Exchange, Outgoing
from majlis.tools.reach.reach import Reach
from majlis.webhooks.outgoing import refused
from majlis.webhooks.queue import claim_deliveries, fill_queue, has_work, settle_delivery

_EVERY_SECONDS = 1.0
TIMEOUT_SECONDS = 15.0
# At once in this process, and to one webhook.
MAX_SENDING = 16
MAX_PER_WEBHOOK = 4
_logger = structlog.get_logger(__name__)


class WebhookSender:
    def __init__(self, db: Database, cipher: Cipher, hosts: Sequence[str], private_hosts: Sequence[str]) -> None:
        self.cipher = cipher
        self._db = db
        self._reaches = {True: Reach(hosts, private_hosts), False: Reach(hosts)}
        self._exchanges = {by_admin: Exchange(reach) for by_admin, reach in self._reaches.items()}
        self._sending: dict[asyncio.Task[None], str] = {}

    async def check(self, url: str, by_admin: bool) -> None:
        """Only admins of the gateway may point webhooks at private hosts, which the owner lists for tools."""
        try:
            await self._reaches[by_admin].addresses(parse_target(url))
        except Forbidden as error:
            raise refused(error) from None

    async def send_forever(self) -> None:
        outage = Outage("sending webhooks")
        try:
            while True:
                with outage.noted():
                    await self.send_due()
                await asyncio.sleep(_EVERY_SECONDS)
        finally:
            for task in self._sending:
                task.cancel()
            await asyncio.gather(*self._sending, return_exceptions=True)

    async def send_due(self) -> int:
        """Begins to send what is due, and returns how many deliveries those are."""
        if not await self._db.read(has_work):
            return 0
        await self._db.write(fill_queue)
        room = MAX_SENDING - len(self._sending)
        if room < 1:
            return 0
        counts = Counter(self._sending.values())
        busy = [webhook_id for webhook_id, count in counts.items() if count >= MAX_PER_WEBHOOK]
        # All that are claimed may belong to one webhook.
        most = MAX_PER_WEBHOOK - max((count for count in counts.values() if count < MAX_PER_WEBHOOK), default=0)
        claimed = await self._db.write(claim_deliveries, busy, min(room, most))
        for row in claimed:
            task = asyncio.create_task(self._send(row), name=row.id)
            self._sending[task] = row.webhook_id
            task.add_done_callback(self._done)
        return len(claimed)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._sending.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            _logger.warning("a webhook's outcome was not noted", error=type(task.exception()).__name__)

    async def _send(self, row: sa.Row[Any]) -> None:
        status, error, final = await self._attempt(row)
        await self._db.write(settle_delivery, row, status, error, final)

    async def _attempt(self, row: sa.Row[Any]) -> tuple[int | None, str | None, bool]:
        """The status, what went wrong, and whether another attempt is useless."""
        if row.member_id is None:
            return None, "The webhook's creator is no longer a member of the space.", True
        if row.data is None:
            return None, "The event is no longer kept.", True
        status, error = await self.attempt(row, row.id, row.type, orjson.loads(row.data))
        return status, error, False

    async def attempt(self, hook: sa.Row[Any], sent_id: str, type: str, data: Any) -> tuple[int | None, str | None]:
        """The status, and what went wrong."""
        try:
            outgoing = self._outgoing(hook, sent_id, type, data)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status = await self._exchanges[hook.by_admin].send_only(outgoing)
        except TimeoutError:
            return None, f"No response within {TIMEOUT_SECONDS:g} s."
        except MajlisError as error:
            return None, error.message
        except Exception as error:
            _logger.warning("a webhook could not be sent", webhook=hook.webhook_id, error=error.__class__.__name__)
            return None, "Majlis could not send it. Its log says more."
        return status, None if 200 <= status < 300 else f"The receiver responded {status}."

    def _outgoing(self, hook: sa.Row[Any], sent_id: str, type: str, data: Any) -> Outgoing:
        from standardwebhooks.webhooks import Webhook

        at = datetime.fromtimestamp(clock.now() // 1000, UTC)
        content = orjson.dumps({"type": type, "timestamp": clock.iso(clock.now()), "data": data})
        signature = Webhook(self.cipher.open(hook.webhook_id, hook.secret)).sign(sent_id, at, content.decode())
        headers = {
            "content-type": "application/json",
            "content-length": str(len(content)),
            "user-agent": f"majlis/{__version__}",
            "accept-encoding": "identity",
            "webhook-id": sent_id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": signature,
        }
        return Outgoing("POST", parse_target(hook.url), headers, content)
