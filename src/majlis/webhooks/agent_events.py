"""Sends events of outside agents to the URL of their webhook: the program need not ask (D2).

Sending is taking: the request carries the event with its lease, and the program answers and settles over HTTP. If the
URL does not accept it, the event is given back and offered again. A node that dies in between loses the lease.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

import sqlalchemy as sa
import structlog

from majlis.entities.caller import Caller
from majlis.outage import Outage
from majlis.outside.held import give_back
from majlis.outside.take import TakenEventJson, has_events, take_events
from majlis.runs.budget.check import Budgets
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import agents, entities, outgoing_webhooks
from majlis.store.tables.agents import IS_OUTSIDE
from majlis.store.transactions import Database, Tx
from majlis.webhooks.queue import MAY_READ, back_off, note_health
from majlis.webhooks.send import WebhookSender

_EVERY_SECONDS = 1.0
# At once in this process, and to one webhook.
MAX_PUSHING = 16
MAX_PER_WEBHOOK = 4
_LONGEST_PAUSE_SECONDS = 600
_logger = structlog.get_logger(__name__)

# Not `entities`, which MAY_READ looks at for the creator.
_named = entities.alias()
_HOOKS = hot(
    sa.select(
        outgoing_webhooks,
        outgoing_webhooks.c.id.label("webhook_id"),
        _named.c.name.label("agent_name"),
        # Only they create webhooks of agents, and MAY_READ holds only while they are.
        sa.true().label("by_admin"),
    )
    .join(agents, agents.c.id == outgoing_webhooks.c.agent_id)
    .join(_named, _named.c.id == agents.c.id)
    .where(outgoing_webhooks.c.disabled_at.is_(None), IS_OUTSIDE, _named.c.deleted_at.is_(None), MAY_READ)
    .order_by(outgoing_webhooks.c.id)
)


def hooks_with_events(tx: Tx) -> list[sa.Row[Any]]:
    return [row for row in tx.all(_HOOKS) if has_events(tx, _agent(row))]


class Pusher:
    def __init__(self, db: Database, sender: WebhookSender, budgets: Budgets) -> None:
        self._db = db
        self._sender = sender
        self._budgets = budgets
        self._pushing: dict[asyncio.Task[None], str] = {}
        # By webhook: how often it has failed in a row here, and when to try again.
        self._failed: dict[str, tuple[int, float]] = {}

    async def push_forever(self) -> None:
        outage = Outage("sending events to outside agents")
        try:
            while True:
                with outage.noted():
                    await self.push_due()
                await asyncio.sleep(_EVERY_SECONDS)
        finally:
            for task in self._pushing:
                task.cancel()
            await asyncio.gather(*self._pushing, return_exceptions=True)

    async def push_due(self) -> int:
        """Begins to send what is due, and returns how many events those are."""
        begun = 0
        problem: Exception | None = None
        for hook in await self._db.read(hooks_with_events):
            try:
                begun += await self._push_from(hook)
            except Exception as error:
                # The other agents' events are sent.
                problem = problem or error
        if problem is not None:
            raise problem
        return begun

    async def _push_from(self, hook: sa.Row[Any]) -> int:
        failures, again_at = self._failed.get(hook.id, (0, 0.0))
        if time.monotonic() < again_at:
            return 0
        # One event tries a URL that has failed.
        most = 1 if failures else MAX_PER_WEBHOOK
        room = min(MAX_PUSHING - len(self._pushing), most - Counter(self._pushing.values())[hook.id])
        if room < 1:
            return 0
        taken = (await self._db.write(take_events, _agent(hook), room, self._budgets))["events"]
        for event in taken:
            task = asyncio.create_task(self._push(hook, event), name=event["id"])
            self._pushing[task] = hook.id
            task.add_done_callback(self._done)
        return len(taken)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._pushing.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            _logger.warning("an event was not given back", error=type(task.exception()).__name__)

    async def _push(self, hook: sa.Row[Any], event: TakenEventJson) -> None:
        status, error = await self._sender.attempt(hook, ids.new("whd"), "inbox.event", event)
        if error is None:
            self._failed.pop(hook.id, None)
        else:
            failures, again_at = self._failed.get(hook.id, (0, 0.0))
            # Those that were sent together fail together, which counts once.
            if time.monotonic() >= again_at:
                pause = min(back_off(failures + 1) / 1000, _LONGEST_PAUSE_SECONDS)
                self._failed[hook.id] = failures + 1, time.monotonic() + pause
        await self._db.write(_settle, hook, event, status, error)


def _settle(tx: Tx, hook: sa.Row[Any], event: TakenEventJson, status: int | None, error: str | None) -> None:
    if error is not None:
        give_back(tx, _agent(hook), [event])
    note_health(tx, hook.id, error is None, gone=status == 410)


def _agent(hook: sa.Row[Any]) -> Caller:
    return Caller(hook.agent_id, hook.agent_name, "agent", "member", token_id="")
