"""Gathering: an agent's message waits until the others have spoken, so that one run handles what many agents say (E1).

A gathering delivery has `gather_until`, the latest time at which it is due, and a `not_before` that is earlier: the
next time at which a claim looks whether agents are still composing. It is released, with both at the same time, when
the last run of its cause in its space ends or pauses. All of it is in the ledger: a crash delays a release by a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa

from majlis.inbox.standby import STANDS_BY
from majlis.inbox.wake import SOON, WorkAvailable
from majlis.spaces.post import Posted
from majlis.store.hot import among, hot
from majlis.store.tables import deliveries, messages, runs, steps
from majlis.store.tables.columns import word, words
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

# Between the end of the last competitor and the delivery: more may have ended in the same moment.
SETTLE_MILLIS = 300
# How often a claim looks whether agents are still composing.
CHECK_MILLIS = 1000
# A run that has spoken, and a run in a long call, do not keep others waiting.
SPOKE_MILLIS = 4000
CALL_MILLIS = 3000
# The cap for an agent that the message mentions.
MENTIONED_MILLIS = 5000

_PLACE = deliveries.c.space_id == sa.bindparam("space"), deliveries.c.cause_id == sa.bindparam("cause")
_PENDING = deliveries.c.state == word("pending")
IS_GATHERING: sa.ColumnElement[bool] = sa.and_(
    deliveries.c.gather_until.is_not(None), deliveries.c.not_before < deliveries.c.gather_until
)
_ANY = hot(sa.select(deliveries.c.id).where(*_PLACE, _PENDING, IS_GATHERING).limit(1))
_due: sa.BindParameter[int] = sa.bindparam("due", type_=sa.BigInteger)
_at_the_latest = sa.case((deliveries.c.gather_until < _due, deliveries.c.gather_until), else_=_due)
_RELEASE = hot(
    deliveries.update()
    .where(*_PLACE, _PENDING, IS_GATHERING)
    .values(not_before=_at_the_latest, gather_until=_at_the_latest)
)
_CHECK_LATER = hot(deliveries.update().where(among(deliveries.c.id, "deliveries")).values(not_before=_at_the_latest))
# Due deliveries of the cause that no run has taken yet: their agents have not composed an answer.
_UNSTARTED = hot(sa.select(deliveries.c.id).where(*_PLACE, _PENDING, ~IS_GATHERING, ~STANDS_BY).limit(1))
_IN_LONG_CALL = sa.exists().where(
    steps.c.run_id == runs.c.id,
    steps.c.kind == word("tool"),
    steps.c.state == word("started"),
    steps.c.started_at < sa.bindparam("long_ago"),
)
_AT_WORK = hot(
    sa.select(runs.c.id, runs.c.status, runs.c.lease_until, runs.c.shown).where(
        runs.c.cause_id == sa.bindparam("cause"),
        NOT_OVER,
        runs.c.status.in_(words("queued", "running")),
        sa.or_(
            runs.c.active_space_id == sa.bindparam("space"),
            sa.and_(runs.c.cycle, runs.c.trigger_space_id == sa.bindparam("space")),
        ),
        ~_IN_LONG_CALL,
    )
)
_SPOKE_AT = hot(
    sa.select(messages.c.created_at).where(
        messages.c.space_id == sa.bindparam("space"), messages.c.seq == sa.bindparam("seq")
    )
)


def gather_columns(tx: Tx, posted: Posted, agent_id: str) -> dict[str, Any]:
    """For the delivery of this message to this agent. Empty if it is due at once: a person's message, a question that
    its sender waits on, and every message in an orchestrated space or one with `gatherMillis` 0."""
    message = posted.message
    by_agent = message["sender"]["type"] == "agent" and posted.cause.id is not None
    if not by_agent or posted.expects_reply or posted.triggers == "orchestrated" or posted.gather_millis == 0:
        return {}
    cap = min(posted.gather_millis, MENTIONED_MILLIS if agent_id in message["mentions"] else posted.gather_millis)
    # A message that was sent with a token has no run whose end would release it.
    first_look = CHECK_MILLIS if message["runId"] is not None else SETTLE_MILLIS
    return {"gather_until": tx.now + cap, "not_before": tx.now + min(cap, first_look)}


def release(tx: Tx, space_ids: Iterable[str], cause_id: str | None, run_id: str) -> None:
    """A run of this cause ends or pauses. Call it after the spaces' rows are locked: of two runs that end together, the
    second sees that the first is over."""
    ask_to_release(tx, space_ids, cause_id, run_id)()


def ask_to_release(tx: Tx, space_ids: Iterable[str], cause_id: str | None, run_id: str) -> Callable[[], None]:
    """The check costs no round trip of its own if other reads are asked for before the returned function is called."""
    if cause_id is None:
        return lambda: None
    gathering = [(space_id, tx.ask(_ANY, {"space": space_id, "cause": cause_id})) for space_id in space_ids]

    def release_gathering() -> None:
        for space_id, found in gathering:
            if found.all() and not is_composing(tx, space_id, cause_id, run_id):
                tx.execute(_RELEASE, {"space": space_id, "cause": cause_id, "due": tx.now + SETTLE_MILLIS})
                tx.outbox.append(WorkAvailable(payload=SOON))

    return release_gathering


def check_later(tx: Tx, due: Iterable[sa.Row[Any]]) -> set[str]:
    """Returns the deliveries that go on gathering although their `not_before` has passed. The next claim checks them
    again."""
    places: dict[tuple[str, str], list[str]] = {}
    for row in due:
        if row.gather_until is not None and row.gather_until > tx.now:
            places.setdefault((row.space_id, row.cause_id), []).append(row.id)
    waiting = [each for place, found in places.items() if is_composing(tx, *place) for each in found]
    if waiting:
        tx.execute(_CHECK_LATER, {"deliveries": waiting, "due": tx.now + CHECK_MILLIS})
    return set(waiting)


def is_composing(tx: Tx, space_id: str, cause_id: str | None, besides: str = "") -> bool:
    """True while an agent may still say something in this space about this cause."""
    place = {"space": space_id, "cause": cause_id}
    if tx.one(_UNSTARTED, place) is not None:
        return True
    at_work = tx.all(_AT_WORK, {**place, "long_ago": tx.now - CALL_MILLIS})
    return any(_composes(tx, run, space_id) for run in at_work if run.id != besides)


def _composes(tx: Tx, run: sa.Row[Any], space_id: str) -> bool:
    """False if its worker has died, or if its last message is a while ago."""
    if run.status == "running" and run.lease_until < tx.now:
        return False
    wrote = ((run.shown or {}).get("wrote") or {}).get(space_id)
    if not wrote:
        return True
    spoke_at: int | None = tx.execute(_SPOKE_AT, {"space": space_id, "seq": wrote[-1]}).scalar_one_or_none()
    return spoke_at is None or spoke_at + SPOKE_MILLIS > tx.now
