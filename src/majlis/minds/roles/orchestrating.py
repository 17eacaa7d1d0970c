"""From the database to what an orchestrator decides by (R8). Turns are rows; who is in one, and how far, is read from
the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.minds.roles import statements
from majlis.minds.roles.reading import read_one
from majlis.minds.roles.scene import Participant, Place, Routing, Turn
from majlis.minds.timeline.scene import Who
from majlis.spaces.damage import Unreadable, reading
from majlis.store.transactions import Tx


def read_routing(tx: Tx, agent: Who, place: Place, trigger: Mapping[str, Any]) -> Routing:
    finished: str | None = trigger.get("turnId")
    request_id = trigger["messageId"]
    if finished is not None:
        request_id = tx.execute(statements.REQUEST_OF_TURN, {"turn": finished}).scalar_one_or_none() or request_id
    rows = tx.all(statements.TURNS, {"space": place.id, "request": request_id})
    shown = rows[: statements.MAX_TURNS]
    return Routing(
        agents=tuple(row.name for row in tx.all(statements.AGENTS, {"space": place.id, "agent": agent.id})),
        request=read_one(tx, place.id, request_id),
        turns=_turns(tx, place, list(reversed(shown))) if shown else (),
        more_turns=len(rows) > len(shown),
        finished=finished,
    )


def _turns(tx: Tx, place: Place, rows: Sequence[sa.Row[Any]]) -> tuple[Turn, ...]:
    asked = {"messages": sorted({row.message_id for row in rows}), "turns": [row.id for row in rows]}
    participants = tx.all(statements.PARTICIPANTS, asked)
    worked = sorted({run for each in participants for run in _runs(each)})
    said = _said(tx, place, worked)
    return tuple(
        Turn(
            row.id,
            row.phase,
            row.reason,
            row.created_at,
            row.finished_at is not None,
            tuple(_participant(each, said) for each in participants if each.event_id == row.id),
        )
        for row in rows
    )


def _said(tx: Tx, place: Place, worked: Sequence[str]) -> Sequence[sa.Row[Any]]:
    """Words of a run among which is a damaged message are left out (R9)."""
    if not worked:
        return ()
    try:
        with reading():
            return tx.all(statements.SAID, {"runs": worked, "space": place.id})
    except Unreadable:
        return [row for each in worked for row in _said(tx, place, [each])] if len(worked) > 1 else ()


def _participant(row: sa.Row[Any], said: Iterable[sa.Row[Any]]) -> Participant:
    mine = _runs(row)
    return Participant(row.name, row.state, tuple(each.text for each in said if each.run_id in mine))


def _runs(delivery: sa.Row[Any]) -> list[str]:
    """All that have worked on it: what a failed try has said is said."""
    return [*delivery.payload.get("earlierRuns", ()), *([delivery.run_id] if delivery.run_id else [])]
