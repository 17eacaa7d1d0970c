"""The worker of a process: claims what is owed, works on it in tasks, keeps its leases, and lets go when told to.

Woken by the bus; every second at the latest it looks for itself. Whatever runs here can be taken up by any other
worker at any time: a crash, a stop or a lost lease changes who goes on, not what happens.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
import sqlalchemy as sa
import structlog

from majlis import clock, metrics
from majlis.cards.close import time_out_cards
from majlis.inbox.scheduler import fire_due_heartbeats, fire_due_plans
from majlis.inbox.wake import QUEUED, WORK
from majlis.live.bus import Bus, Unsubscribe
from majlis.runs.claim.claim import claim
from majlis.runs.claim.claimed import Claimed
from majlis.runs.claim.lease import HEARTBEAT_SECONDS, LEASE_MILLIS, new_owner
from majlis.runs.claim.poll import look, lost
from majlis.runs.claim.resume import dead_owners
from majlis.runs.end.cancel import ENDED
from majlis.runs.engine import Engine
from majlis.runs.loop.loop import Execution
from majlis.runs.loop.perceive import config_of, mind_of
from majlis.spaces.members import LEFT
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from majlis.waits.deadlock import end_rings
from majlis.waits.wait import time_out

POLL_MILLIS = 1000
GRACE_SECONDS = 5.0
PORTION = 100
_logger = structlog.get_logger(__name__)


class Worker:
    def __init__(self, engine: Engine, bus: Bus, slots: int) -> None:
        self._engine = engine
        self._bus = bus
        self._slots = slots
        self.owner = new_owner()
        self._running: dict[str, tuple[Execution, asyncio.Task[None]]] = {}
        self._wake = asyncio.Event()
        # Whether there may be runs to go on with, besides what is newly owed.
        self._unfinished = True
        self._behind = False
        self._full: set[str] = set()
        self._stopping = False
        self._next_look = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._subscriptions: list[Unsubscribe] = []

    @property
    def active(self) -> int:
        return len(self._running)

    def start(self) -> None:
        self._subscriptions = [
            self._bus.subscribe(WORK, self._on_work),
            self._bus.subscribe(ENDED, lambda payload: self._abort(payload.decode())),
            self._bus.subscribe(LEFT, self._on_left),
        ]
        self._tasks = [
            asyncio.create_task(self._work_forever(), name="worker"),
            asyncio.create_task(self._watch_forever(), name="worker-watch"),
        ]

    def wake(self) -> None:
        """Look now, for whatever there is."""
        self._unfinished = True
        self._full.clear()
        self._wake.set()

    def _on_work(self, payload: bytes) -> None:
        self._unfinished = self._unfinished or payload == QUEUED
        self._full.clear()
        self._wake.set()

    def look_soon(self) -> None:
        """For tests that move the clock: whatever has become due meanwhile is found now."""
        self._next_look = 0
        self.wake()

    async def stop(self) -> None:
        """Takes nothing new, lets runs finish for a moment, and hands back the rest."""
        if not self._tasks:
            return
        self._stopping = True
        self._wake.set()
        await self._tasks[0]
        tasks = [task for _, task in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
        for execution, task in tuple(self._running.values()):
            execution.handing_back = True
            task.cancel()
        await asyncio.gather(*(task for _, task in self._running.values()), return_exceptions=True)
        # Not before: what finishes its work here is still canceled at once, and silent where its agent has left.
        for unsubscribe in self._subscriptions:
            unsubscribe()
        self._tasks[1].cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._tasks[1]

    async def _work_forever(self) -> None:
        due: clock.Millis | None = None
        while not self._stopping:
            woken = self._wake.is_set()
            self._wake.clear()
            try:
                if woken:
                    await self._take(())
                if not woken or clock.now() >= self._next_look:
                    due = await self._look()
                    self._next_look = clock.now() + POLL_MILLIS
            except Exception as error:
                _logger.warning("the worker could not look for work; trying again", error=repr(error))
                self._next_look = clock.now() + POLL_MILLIS
            await self._pause(min(self._next_look, due or self._next_look))

    async def _pause(self, until: clock.Millis) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.001, (until - clock.now()) / 1000)):
                await self._wake.wait()

    async def _look(self) -> clock.Millis | None:
        """What a wake-up did not tell of: time that has come, workers that have died."""
        sight = await self._engine.db.read(look, self.owner)
        dead = await self._engine.db.read(dead_owners) if sight.others else []
        while sight.clock and await self._engine.db.write(tick):
            continue
        if sight.work or dead:
            # Agents that were full may have room now, without a word from those who made it.
            self._full.clear()
            self._unfinished = True
            await self._take(dead)
        return sight.next_at

    async def _take(self, dead: Any) -> None:
        free = self._slots - len(self._running)
        if free < 1 or self._stopping:
            return
        held = list(self._running)
        unfinished, self._unfinished = self._unfinished, False
        found = await self._engine.write(claim, self.owner, free, self._full, dead, self._see, held, unfinished)
        self._full = found.full
        self._behind = found.behind if unfinished else self._behind
        for claimed in found.claimed:
            self._begin(claimed)
        if len(found.claimed) == free:
            self._unfinished = self._unfinished or unfinished
            self._wake.set()

    def _see(self, tx: Tx, claimed: Claimed) -> Any:
        config = self._engine.configs.known(claimed.agent_id, claimed.agent_version)
        # A consciousness has much to read: that is not done while a claim holds its locks.
        if config is None or claimed.cycle:
            return None
        config = config_of(claimed, config)
        return mind_of(config).load(tx, claimed, config)

    def _begin(self, claimed: Claimed) -> None:
        # We were taken for dead ourselves, and have it back by now: what we did before our sleep is over.
        self._abort(claimed.id)
        execution = Execution(self._engine, claimed)
        task = asyncio.create_task(self._carry_out(execution), name=claimed.id)
        # Not at the end of the work itself: a task that is canceled before its first step does none of it.
        task.add_done_callback(lambda _: self._over(execution))
        self._running[claimed.id] = (execution, task)
        if claimed.owed_at:
            metrics.run_delay_seconds.observe(max(0, clock.now() - claimed.owed_at) / 1000)
        metrics.runs_active.set(len(self._running))

    async def _carry_out(self, execution: Execution) -> None:
        try:
            await execution.run()
        except asyncio.CancelledError:
            if not self._stopping:
                _logger.info("a run was stopped", run=execution.id)
        except Exception:
            _logger.exception("a run was dropped; it is taken up again when its lease ends", run=execution.id)

    def _over(self, execution: Execution) -> None:
        if self._running.get(execution.id, (None,))[0] is execution:
            del self._running[execution.id]
        metrics.runs_active.set(len(self._running))
        self._full.discard(execution.agent_id)
        self._unfinished = self._unfinished or self._behind
        self._wake.set()

    def _abort(self, run_id: str) -> None:
        found = self._running.get(run_id)
        if found is not None:
            found[1].cancel()

    def _on_left(self, payload: bytes) -> None:
        left = orjson.loads(payload)
        for execution, _ in tuple(self._running.values()):
            if execution.agent_id == left["entityId"]:
                execution.left_space(left["spaceId"])

    async def _watch_forever(self) -> None:
        """Leases are renewed every ten seconds, and every second we see whether our runs are still ours: the signal
        that one was canceled may be lost. By the clock: a busy database makes a look last longer than its second, and
        a renewal that has failed is tried again with the next."""
        renewed_at = 0
        while True:
            await asyncio.sleep(POLL_MILLIS / 1000)
            ours = {run_id: execution.fence for run_id, (execution, _) in self._running.items()}
            if not ours:
                continue
            try:
                if abs(clock.now() - renewed_at) >= HEARTBEAT_SECONDS * 1000:
                    await self._engine.db.write(renew, self.owner, list(ours))
                    renewed_at = clock.now()
                gone = await self._engine.db.read(lost, ours)
            except Exception as error:
                _logger.warning("leases could not be renewed; trying again", error=repr(error))
                continue
            for run_id in gone:
                self._abort(run_id)


def tick(tx: Tx) -> bool:
    """The clock's work of one moment, a portion of it: whether there may be more. Safe on several nodes at once."""
    # Cards first: they lock spaces, and spaces come before runs.
    asked = time_out_cards(tx, PORTION)
    done = fire_due_plans(tx, PORTION), fire_due_heartbeats(tx, PORTION), time_out(tx, PORTION)
    end_rings(tx)
    return max(asked, *done) == PORTION


def renew(tx: Tx, owner: str, run_ids: list[str]) -> None:
    mine = runs.c.id.in_(run_ids), runs.c.lease_owner == owner, runs.c.status == "running"
    tx.execute(runs.update().where(*mine).values(lease_until=sa.literal(tx.now + LEASE_MILLIS, sa.BigInteger)))
