"""The worker of a process: claims runs, executes each in a task, renews leases, and stops cleanly.

The bus wakes it; it also polls at least every second. Any other worker can continue any of its runs: after a crash, a
stop or a lost lease, another worker goes on.
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
from majlis.outage import Outage
from majlis.runs.claim.claim import claim
from majlis.runs.claim.lease import HEARTBEAT_SECONDS, LEASE_MILLIS, new_owner
from majlis.runs.claim.poll import lost, poll
from majlis.runs.claim.resume import dead_owners
from majlis.runs.end.cancel import ENDED
from majlis.runs.engine import Engine
from majlis.runs.loop.loop import Loop
from majlis.runs.run import Run
from majlis.spaces.members import LEFT
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from majlis.waits.deadlock import end_deadlocks
from majlis.waits.wait import time_out

POLL_MILLIS = 1000
# While polling fails, it backs off to this.
_MAX_POLL_MILLIS = 5000
GRACE_SECONDS = 5.0
PORTION = 100
_logger = structlog.get_logger(__name__)


class Worker:
    def __init__(self, engine: Engine, bus: Bus, slots: int) -> None:
        self._engine = engine
        self._bus = bus
        self._slots = slots
        self.owner = new_owner()
        self._running: dict[str, tuple[Loop, asyncio.Task[None]]] = {}
        self._wake = asyncio.Event()
        # There may be queued runs or runs of dead workers, besides new deliveries.
        self._unfinished = True
        self._behind = False
        self._full: set[str] = set()
        self._stopping = False
        self._next_poll = 0
        self._outage = Outage("polling for work")
        self._lease_outage = Outage("renewing leases")
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
        """Polls now, for all kinds of work."""
        self._unfinished = True
        self._full.clear()
        self._wake.set()

    def _on_work(self, payload: bytes) -> None:
        self._unfinished = self._unfinished or payload == QUEUED
        self._full.clear()
        self._wake.set()

    def poll_soon(self) -> None:
        """For tests that move the clock."""
        self._next_poll = 0
        self.wake()

    async def stop(self) -> None:
        """Claims nothing new, gives runs a moment to finish, and hands back the rest."""
        if not self._tasks:
            return
        self._stopping = True
        self._wake.set()
        await self._tasks[0]
        tasks = [task for _, task in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
        for loop, task in tuple(self._running.values()):
            loop.handing_back = True
            task.cancel()
        await asyncio.gather(*(task for _, task in self._running.values()), return_exceptions=True)
        # Not earlier: runs that are finishing can still be canceled, and stop streaming where their agent left.
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
                if not woken or clock.now() >= self._next_poll:
                    due = await self._poll()
                    self._next_poll = clock.now() + POLL_MILLIS
                if self._outage.failures:
                    self._outage.worked()
            except Exception as error:
                self._outage.failed(error)
                # Without the due time, which may have passed: the worker would try again at once, for ever.
                due, self._unfinished = None, True
                self._next_poll = clock.now() + min(POLL_MILLIS * 2 ** (self._outage.failures - 1), _MAX_POLL_MILLIS)
                self._wake.clear()
            await self._pause(min(self._next_poll, due or self._next_poll))

    async def _pause(self, until: clock.Millis) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.001, (until - clock.now()) / 1000)):
                await self._wake.wait()

    async def _poll(self) -> clock.Millis | None:
        """Finds what no wake-up announces: due times and dead workers."""
        found = await self._engine.db.read(poll, self.owner)
        dead = await self._engine.db.read(dead_owners) if found.others else []
        while found.clock and await self._engine.db.write(tick):
            continue
        if found.work or dead:
            # Agents that were full may have room now.
            self._full.clear()
            self._unfinished = True
            await self._take(dead)
        return found.next_at

    async def _take(self, dead: Any) -> None:
        free = self._slots - len(self._running)
        if free < 1 or self._stopping:
            return
        held = list(self._running)
        unfinished, self._unfinished = self._unfinished, False
        claimed = await self._engine.write(
            claim, self.owner, free, self._full, dead, self._engine.configs, held, unfinished
        )
        self._full = claimed.full
        self._behind = claimed.behind if unfinished else self._behind
        for run in claimed.runs:
            self._start(run, claimed.scenes.get(run.id))
        if len(claimed.runs) == free:
            self._unfinished = self._unfinished or unfinished
            self._wake.set()

    def _start(self, run: Run, scene: Any) -> None:
        # This worker may have lost the run to another one and have it back: end what it did before.
        self._abort(run.id)
        loop = Loop(self._engine, run, scene)
        task = asyncio.create_task(self._execute(loop), name=run.id)
        # In a callback, since a task that is cancelled before its first step runs none of its code.
        task.add_done_callback(lambda _: self._ended(loop))
        self._running[run.id] = (loop, task)
        if run.due_at:
            metrics.run_delay_seconds.observe(max(0, clock.now() - run.due_at) / 1000)
        metrics.runs_active.set(len(self._running))

    async def _execute(self, loop: Loop) -> None:
        try:
            await loop.execute()
        except asyncio.CancelledError:
            if not self._stopping:
                _logger.info("run stopped", run=loop.run.id)
        except Exception:
            _logger.exception("run dropped; it is taken over when its lease expires", run=loop.run.id)

    def _ended(self, loop: Loop) -> None:
        if self._running.get(loop.run.id, (None,))[0] is loop:
            del self._running[loop.run.id]
        metrics.runs_active.set(len(self._running))
        self._full.discard(loop.run.agent_id)
        self._unfinished = self._unfinished or self._behind
        self._wake.set()

    def _abort(self, run_id: str) -> None:
        found = self._running.get(run_id)
        if found is not None:
            found[1].cancel()

    def _on_left(self, payload: bytes) -> None:
        left = orjson.loads(payload)
        for loop, _ in tuple(self._running.values()):
            if loop.run.agent_id == left["entityId"]:
                loop.left_space(left["spaceId"])

    async def _watch_forever(self) -> None:
        """Renews leases every ten seconds, and checks every second that our runs are still ours, since the signal that
        one was canceled may be lost. By the clock, not by counting: a check may take longer than a second."""
        renewed_at = 0
        while True:
            await asyncio.sleep(POLL_MILLIS / 1000)
            ours = {run_id: loop.run.fence for run_id, (loop, _) in self._running.items()}
            if not ours:
                continue
            try:
                if abs(clock.now() - renewed_at) >= HEARTBEAT_SECONDS * 1000:
                    await self._engine.db.write(renew, self.owner, list(ours))
                    renewed_at = clock.now()
                gone = await self._engine.db.read(lost, ours)
            except Exception as error:
                self._lease_outage.failed(error)
                continue
            if self._lease_outage.failures:
                self._lease_outage.worked()
            for run_id in gone:
                self._abort(run_id)


def tick(tx: Tx) -> bool:
    """Handles a portion of what is due; True if there may be more. Safe on several nodes at once."""
    # Cards first: they lock spaces, and spaces are locked before runs.
    asked = time_out_cards(tx, PORTION)
    done = fire_due_plans(tx, PORTION), fire_due_heartbeats(tx, PORTION), time_out(tx, PORTION)
    end_deadlocks(tx)
    return max(asked, *done) == PORTION


def renew(tx: Tx, owner: str, run_ids: list[str]) -> None:
    mine = runs.c.id.in_(run_ids), runs.c.lease_owner == owner, runs.c.status == "running"
    tx.execute(runs.update().where(*mine).values(lease_until=sa.literal(tx.now + LEASE_MILLIS, sa.BigInteger)))
