"""The worker of a process: claims runs, executes each in a task, renews leases, and stops cleanly.

The bus wakes it; it also polls at least every second. Any other worker can continue any of its runs: after a crash, a
stop or a lost lease, another worker goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import Any

import orjson
import sqlalchemy as sa
import structlog

from majlis import clock, metrics
from majlis.asks.close import expire_asks
from majlis.audit.record import RUNNING, RunningAgent
from majlis.cards.close import time_out_cards
from majlis.inbox.pause import PAUSED
from majlis.inbox.scheduler import fire_due_heartbeats, fire_due_plans
from majlis.inbox.wake import BUDGETS, QUEUED, SOON, WORK
from majlis.live.bus import Bus, Unsubscribe
from majlis.outage import Outage
from majlis.runs.budget.park import release_parked
from majlis.runs.claim.claim import claim
from majlis.runs.claim.deaths import acquit
from majlis.runs.claim.lease import HEARTBEAT_SECONDS, RUN_LEASE_MILLIS, new_owner
from majlis.runs.claim.poll import lost, poll
from majlis.runs.claim.resume import dead_owners
from majlis.runs.end.cancel import ENDED, STOP
from majlis.runs.end.outside_leases import expire_leases
from majlis.runs.engine import Engine
from majlis.runs.loop.loop import Loop
from majlis.runs.run import Run
from majlis.spaces.members import LEFT
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from majlis.waits.deadlock import end_deadlocks
from majlis.waits.wait import time_out

POLL_MILLIS = 1000
# The longest delay between polls that fail.
_MAX_POLL_MILLIS = 5000
GRACE_SECONDS = 5.0
PORTION = 100
# A claim holds SQLite's only writer, and reads what its runs see. Others wait meanwhile.
_CLAIMED_AT_ONCE = 16
# A worker that has other runs waits this long for one without before it makes room for a run that must be tried alone.
_ISOLATE_AFTER_MILLIS = 5_000
_ISOLATION_MILLIS = 60_000
_logger = structlog.get_logger(__name__)


class Worker:
    def __init__(self, engine: Engine, bus: Bus, slots: int) -> None:
        self._engine = engine
        self._bus = bus
        self._slots = slots
        self.owner = new_owner()
        self._running: dict[str, tuple[Loop, asyncio.Task[None]]] = {}
        self._wake = asyncio.Event()
        # Set to look at once which of the running runs are still ours and not paused.
        self._watch = asyncio.Event()
        # There may be queued runs or runs of dead workers, besides new deliveries.
        self._unfinished = True
        self._behind = False
        self._full: set[str] = set()
        # The last claim left work behind for which there may be room when a run ends.
        self._left = False
        # Something has changed since the current claim began.
        self._stale = False
        self._stopping = False
        self._next_poll = 0
        # The run that is tried alone, and until when at the latest.
        self._isolated: tuple[str, clock.Millis] | None = None
        # When this worker hands back its runs, to be able to try one alone.
        self._make_room_at: clock.Millis | None = None
        self._made_room_at: clock.Millis = -_ISOLATION_MILLIS
        # The day of the budgets.
        self._day = ""
        engine.budgets.worker = self.owner
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
            self._bus.subscribe(STOP, self._on_stop),
            self._bus.subscribe(LEFT, self._on_left),
            self._bus.subscribe(PAUSED, lambda _: self._watch.set()),
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
        if payload == BUDGETS:
            self._engine.budgets.apply = True
        if payload == SOON:
            self._next_poll = 0
        self._unfinished = self._unfinished or payload in (QUEUED, BUDGETS)
        self._stale = True
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
        self._hand_back_all()
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
                    # Before the poll: a signal that arrives meanwhile asks for another one.
                    self._next_poll = clock.now() + POLL_MILLIS
                    due = await self._poll()
                self._outage.worked()
            except Exception as error:
                self._outage.failed(error)
                # Without the due time, which may have passed: the worker would try again at once, forever.
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
        await self._renew_budgets(found.budgets)
        dead = await self._engine.db.read(dead_owners) if found.others else []
        while found.clock and await self._engine.db.write(tick):
            continue
        while found.leases and await self._engine.db.write(expire_leases, PORTION):
            continue
        self._watch_suspects(found.suspects)
        if found.work or dead:
            # Agents that were full may have room now.
            self._full.clear()
            self._unfinished = True
            await self._take(dead)
        return found.next_at

    async def _renew_budgets(self, stored: bool) -> None:
        """A new day, or a start with other settings: parked runs try again (E5)."""
        budgets = self._engine.budgets
        budgets.learn(stored)
        today = budgets.today()
        if today != self._day:
            await self._engine.db.write(release_parked)
            self._day = today

    async def _take(self, dead: Any) -> None:
        free = min(_CLAIMED_AT_ONCE, self._slots - len(self._running))
        self._left = True
        if free < 1 or self._stopping or self._is_isolated() or (self._makes_room() and self._running):
            return
        held = list(self._running)
        unfinished, self._unfinished = self._unfinished, False
        self._stale = False
        claimed = await self._engine.write(
            claim, self.owner, free, self._full, dead, self._engine.configs, held, unfinished
        )
        self._full = set() if self._stale else claimed.full
        # A claim that got nothing may have met another node's, whose locks it passed over.
        left = claimed.full or claimed.lanes or claimed.behind or claimed.parked or claimed.closed
        self._left = bool(left) or not claimed.runs
        self._behind = claimed.behind if unfinished else self._behind
        for run in claimed.runs:
            self._start(run, claimed.scenes.get(run.id))
        if claimed.closed:
            self._isolated = claimed.runs[0].id, clock.now() + _ISOLATION_MILLIS
            return
        if len(claimed.runs) == free:
            self._unfinished = self._unfinished or unfinished
            self._wake.set()

    def _is_isolated(self) -> bool:
        """A run is tried alone until it has written to the journal or ended, or for a minute."""
        if self._isolated is None:
            return False
        run_id, until = self._isolated
        found = self._running.get(run_id)
        if found is None or found[0].proven or clock.now() > until:
            self._isolated = None
        return self._isolated is not None

    def _watch_suspects(self, waiting: bool) -> None:
        """If no idle worker takes the run that waits, this one hands back its own. After a random delay, so that not
        all workers do."""
        if not waiting or not self._running or self._isolated is not None:
            self._make_room_at = None
        elif self._make_room_at is None:
            # Waits, in case the run cannot be claimed here for another reason.
            start = max(clock.now(), self._made_room_at + _ISOLATION_MILLIS)
            self._make_room_at = start + _ISOLATE_AFTER_MILLIS + secrets.randbelow(_ISOLATE_AFTER_MILLIS)
        elif self._makes_room():
            self._made_room_at = clock.now()
            self._hand_back_all()

    def _makes_room(self) -> bool:
        return self._make_room_at is not None and clock.now() >= self._make_room_at

    def _hand_back_all(self) -> None:
        for run_id in tuple(self._running):
            self._hand_back(run_id)

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
        RUNNING.set(RunningAgent(loop.run.agent_id, loop.run.agent_name, loop.run.id))
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
        self._stale = True
        if self._left or self._behind or self._make_room_at is not None:
            self._wake.set()

    def _abort(self, run_id: str) -> None:
        found = self._running.get(run_id)
        # A run that is being stopped ends by itself.
        if found is not None and found[0].stopped_by is None:
            found[1].cancel()

    def _on_stop(self, payload: bytes) -> None:
        asked = orjson.loads(payload)
        found = self._running.get(asked["runId"])
        if found is not None and found[0].stopped_by is None and not found[0].handing_back:
            found[0].stopped_by = asked["by"]
            found[1].cancel()

    def _hand_back(self, run_id: str) -> None:
        """The run goes back to the queue, and its unfinished text disappears."""
        loop, task = self._running[run_id]
        loop.handing_back = True
        task.cancel()

    async def _say_alive(self, run_id: str, fence: int) -> None:
        """Records that this worker lost the run but did not die. If this fails, one death too many is counted."""
        with contextlib.suppress(Exception):
            await self._engine.write(acquit, run_id, fence)

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
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_MILLIS / 1000):
                    await self._watch.wait()
            self._watch.clear()
            ours = {run_id: loop.run.fence for run_id, (loop, _) in self._running.items()}
            if not ours:
                continue
            try:
                if abs(clock.now() - renewed_at) >= HEARTBEAT_SECONDS * 1000:
                    await self._engine.db.write(renew, self.owner, list(ours))
                    renewed_at = clock.now()
                gone, paused = await self._engine.db.read(lost, ours)
            except Exception as error:
                self._lease_outage.failed(error)
                continue
            self._lease_outage.worked()
            for run_id in gone:
                self._abort(run_id)
                await self._say_alive(run_id, ours[run_id])
            for run_id in paused & self._running.keys():
                self._hand_back(run_id)


def tick(tx: Tx) -> bool:
    """Handles a portion of what is due; True if there may be more. Safe on several nodes at once."""
    # Cards and asks first: they lock spaces, and spaces are locked before runs.
    asked = max(time_out_cards(tx, PORTION), expire_asks(tx, PORTION))
    done = fire_due_plans(tx, PORTION), fire_due_heartbeats(tx, PORTION), time_out(tx, PORTION)
    end_deadlocks(tx)
    return max(asked, *done) == PORTION


def renew(tx: Tx, owner: str, run_ids: list[str]) -> None:
    mine = runs.c.id.in_(run_ids), runs.c.lease_owner == owner, runs.c.status == "running"
    tx.execute(runs.update().where(*mine).values(lease_until=sa.literal(tx.now + RUN_LEASE_MILLIS, sa.BigInteger)))
