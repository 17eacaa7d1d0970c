"""Bugs that a developer could write, as small patches. `majlis prove` has to find each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.agents.plans import when
from majlis.inbox import deliver, scheduler
from majlis.live.channel import Channel
from majlis.prove import people
from majlis.runs import journal, worker
from majlis.runs.calls import call, commit
from majlis.runs.claim import resume, start
from majlis.runs.claim.capacity import known_agents
from majlis.runs.end import settle
from majlis.runs.loop import loop
from majlis.runs.run import Run
from majlis.spaces import post
from majlis.spaces.cause import begin_causes
from majlis.spaces.history import find_by_client_id
from majlis.store import ids, sqlite
from majlis.store.tables import members, runs
from majlis.store.transactions import keep_inside
from majlis.tool_decorator import ToolContext
from majlis.waits import wait

Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Bug:
    # The promise that it breaks.
    promise: str
    plant: Plant
    # A schedule that is known to find it, or comes shortly before one that does.
    seed: int


def _no_fence(patch: pytest.MonkeyPatch) -> None:
    """A worker that lost its lease writes all the same."""

    def update_fenced(tx: Any, run_id: str, fence: int, **values: Any) -> None:
        tx.execute(runs.update().where(runs.c.id == run_id).values(lease_until=tx.now + 30_000, **values))

    for module in (journal, settle, commit):
        patch.setattr(module, "update_fenced", update_fenced)


def _cursor_moved_early(patch: pytest.MonkeyPatch) -> None:
    """The cursor moves when the context is built, not when the run completes."""
    original = loop.Loop._perceive

    async def perceive(self: loop.Loop, *given: Any) -> Any:
        view = await original(self, *given)

        def move(tx: Any) -> None:
            for space_id, seq in view.shown.items():
                values = {"space": space_id, "agent": self.run.agent_id, "seq": seq}
                tx.execute(settle._MOVE_CURSOR, values)

        await self._engine.db.write(move)
        return view

    patch.setattr(loop.Loop, "_perceive", perceive)


def _cursor_goes_back(patch: pytest.MonkeyPatch) -> None:
    """If two runs overlap, the one that ends last sets the cursor."""
    move = (
        members.update()
        .where(members.c.space_id == sa.bindparam("space"), members.c.entity_id == sa.bindparam("agent"))
        .values(processed_seq=sa.bindparam("seq"))
    )
    patch.setattr(settle, "_MOVE_CURSOR", move)


def _look_then_insert(patch: pytest.MonkeyPatch) -> None:
    """A repeated client id is looked for in one transaction, and the message is stored in another."""

    async def post_twice(gateway: Any, sender: Any, space_id: str, draft: Any) -> Any:
        try:
            return await gateway.db.read(find_by_client_id, sender, space_id, draft.client_id)
        except Exception:
            await asyncio.sleep(0.01)
        draft = replace(draft, client_id=None)
        return await gateway.db.write_brief(deliver.post_message, sender, space_id, draft)

    patch.setattr(people, "_post", post_twice)


def _settled_too_early(patch: pytest.MonkeyPatch) -> None:
    """The deliveries are settled in a transaction of their own, before the one that ends the run."""
    original = loop.Loop._settle

    async def settle_first(self: loop.Loop, label: Any, verb: Any, *args: Any) -> None:
        if label in ("complete", "fail"):
            await self._engine.write(settle.settle_deliveries, self.run.id, "done")
        await original(self, label, verb, *args)

    patch.setattr(loop.Loop, "_settle", settle_first)


def _taken_out_of_the_queue(patch: pytest.MonkeyPatch) -> None:
    """A delivery is settled when a run takes it: if the run fails, the message is lost."""
    patch.setattr(settle, "_retry_trigger", lambda tx, run, *_: settle.settle_deliveries(tx, run.id, "passed"))


def _wait_ended_without_a_condition(patch: pytest.MonkeyPatch) -> None:
    """Waits that are due are read in one transaction and ended in another, whatever happened in between."""
    original = worker.Worker._poll

    async def poll(self: worker.Worker) -> Any:
        due = await self._engine.db.read(lambda tx: tx.all(wait._DUE, {"now": tx.now, "limit": 10}))

        def end(tx: Any) -> None:
            late = runs.c.id.in_([row.id for row in due])
            tx.execute(runs.update().where(late).values(status="queued", deadline=None))

        await self._engine.db.write(end)
        return await original(self)

    patch.setattr(worker.Worker, "_poll", poll)


def _no_polling(patch: pytest.MonkeyPatch) -> None:
    """Workers rely on wake-ups alone."""

    async def poll(_self: worker.Worker) -> None:
        return None

    patch.setattr(worker.Worker, "_poll", poll)


def _sent_before_commit(patch: pytest.MonkeyPatch) -> None:
    """Live events leave before the transaction has committed."""

    def write_batch(self: sqlite.SqliteDatabase, connection: sqlite.Connection, job: sqlite.Job) -> None:
        connection.begin()
        if not job.run(connection):
            connection.rollback()
            sqlite.resolve([job], None, keep_inside)
            return
        self.after_commit(job.outbox)
        try:
            self._commit(connection)
        except Exception as error:
            connection.rollback()
            sqlite.resolve([job], error, keep_inside)
        else:
            sqlite.resolve([job], None, keep_inside)

    patch.setattr(sqlite.SqliteDatabase, "_run_in_loop", lambda *_: False)
    patch.setattr(sqlite.SqliteDatabase, "_write_batch", write_batch)


def _same_fence(patch: pytest.MonkeyPatch) -> None:
    """A take-over keeps the fence of the worker that had the run before."""
    take = runs.update().where(runs.c.id == sa.bindparam("run"), runs.c.status == sa.bindparam("was"))
    take = take.values(status="running", lease_owner=sa.bindparam("owner"), lease_until=sa.bindparam("until"))
    patch.setattr(resume, "_TAKE", take)
    original = Run.from_row

    def from_row(row: Any, agent: Any) -> Any:
        run = original(row, agent)
        run.fence -= 1
        return run

    patch.setattr(Run, "from_row", from_row)


def _no_take_over(patch: pytest.MonkeyPatch) -> None:
    """Runs of dead workers stay where they are."""
    patch.setattr(resume, "_UNFINISHED", resume._UNFINISHED.where(runs.c.status == "queued"))


def _effect_before_journal(patch: pytest.MonkeyPatch) -> None:
    """A call outside is written to the journal only when it is over."""
    original = call.Calls._outside

    async def outside(self: Any, tool: Any, given: Any, entry: Any, *more: Any) -> Any:
        context = ToolContext(self._run.agent_id, self._run.agent_name, self._run.id, None, None, "early")
        await call.outcome(tool, context, given)
        with pytest.MonkeyPatch.context() as within:
            within.setattr(type(tool), "act", _nothing)
            return await original(self, tool, given, entry, *more)

    patch.setattr(call.Calls, "_outside", outside)


async def _nothing(*_: Any) -> dict[str, str]:
    return {}


def _plan_without_a_key(patch: pytest.MonkeyPatch) -> None:
    """Due plans are read in one transaction and fired in another, under a new id each time."""
    original = worker.Worker._poll

    async def poll(self: worker.Worker) -> Any:
        due = await self._engine.db.read(lambda tx: tx.all(scheduler._DUE_PLANS, {"now": tx.now, "most": 10}))

        def fire(tx: Any) -> None:
            for plan in due:
                [cause] = begin_causes(tx, "plan", [(plan.person_id, plan.cause_id)])
                row = scheduler._plan_delivery(tx, plan, cause) | {"event_id": f"{plan.id}@{ids.new('evt')}"}
                deliver.insert_deliveries(tx, [row])
                tx.execute(scheduler._MOVE_PLAN, {"plan": plan.id, **when(None)})

        if due:
            await self._engine.db.write(fire)
        return await original(self)

    patch.setattr(worker.Worker, "_poll", poll)


def _gap_not_filled(patch: pytest.MonkeyPatch) -> None:
    """A process passes on the events that reach it, without looking for those that do not."""

    def take(self: Channel, event: Any) -> list[Any]:
        if self.last is None or event.seq <= self.last:
            return []
        self.last = event.seq
        return [event]

    patch.setattr(Channel, "take", take)


def _repeated_without_client_id(patch: pytest.MonkeyPatch) -> None:
    """The client id of a message is not stored."""
    original = post.store_message

    def store(tx: Any, sender: Any, space_id: str, draft: Any, *more: Any) -> Any:
        return original(tx, sender, space_id, replace(draft, client_id=None), *more)

    patch.setattr(deliver, "store_message", store)


def _limit_not_counted(patch: pytest.MonkeyPatch) -> None:
    """A claim looks at the agent's limit, but not at the runs that are already at work."""
    original = known_agents

    def known(tx: Any, agents: Any) -> Any:
        return {key: _Idle(row) for key, row in original(tx, agents).items()}

    patch.setattr(start, "known_agents", known)


class _Idle:
    def __init__(self, row: Any) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        return 0 if name == "running" else getattr(self._row, name)


BUGS = {
    "a fence left out": Bug("runs end once", _no_fence, 24),
    "a fence that stays the same": Bug("runs end once", _same_fence, 1),
    "a cursor moved early": Bug("cursors follow", _cursor_moved_early, 1),
    "a cursor that goes back": Bug("cursors follow", _cursor_goes_back, 2),
    "dedup by look, then insert": Bug("posted once", _look_then_insert, 3),
    "a client id that is not stored": Bug("posted once", _repeated_without_client_id, 1),
    "a delivery settled before its run ends": Bug("delivered once", _settled_too_early, 1),
    "an event dropped by a failed run": Bug("answered once", _taken_out_of_the_queue, 3),
    "a wait ended without a condition": Bug("waits keep answers", _wait_ended_without_a_condition, 6),
    "a lost wake-up without polling": Bug("nothing stuck", _no_polling, 3),
    "no take-over of dead workers": Bug("nothing stuck", _no_take_over, 6),
    "an outbox sent before commit": Bug("streams whole", _sent_before_commit, 6),
    "a gap in a stream": Bug("streams whole", _gap_not_filled, 1),
    "an effect before its journal entry": Bug("effects once", _effect_before_journal, 3),
    "a plan without a key": Bug("plans fire once", _plan_without_a_key, 4),
    "a limit that is not counted": Bug("limits hold", _limit_not_counted, 2),
}
