"""Loads a scene in one snapshot, with at most eight reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig
from majlis.clock import Millis
from majlis.minds.quote import references
from majlis.minds.roles import statements
from majlis.minds.roles.scene import Participant, Place, Routing, Scene, Turn
from majlis.minds.timeline import scene as timeline
from majlis.minds.timeline.history_block import stepped_start
from majlis.minds.timeline.load import load_scene as load_common
from majlis.minds.timeline.load import read_about, read_active_space, read_one, read_quoted, read_window, with_edits
from majlis.minds.timeline.scene import ActiveSpace, Look, Who
from majlis.spaces.damaged_rows import Unreadable, reading
from majlis.store.transactions import Tx

# F4: how many messages of the active space a run sees that was asked in another one.
_ELSEWHERE = 20
# For a first attempt at a trigger: no earlier one limits what is read.
_ANY_TIME: Millis = 2**62


def load_scene(tx: Tx, look: Look) -> Scene:
    agent, config, trigger = look.agent, look.config, look.trigger
    # The trigger's surroundings are read below, and the messages that it quotes with those that the history quotes.
    silent = {name: value for name, value in trigger.items() if name not in ("text", "messageId")}
    common = load_common(tx, replace(look, trigger=silent, active_space_id=None, alone=True))
    common = replace(common, trigger=trigger)
    space_id = trigger.get("spaceId")
    first = tx.one(statements.KNOWN_THEN, {"run": look.tried}) if look.tried else None
    tried_at = first.created_at if first else _ANY_TIME
    row = _place(tx, agent, config, trigger, tried_at) if space_id is not None else None
    moved = look.active_space_id not in (None, row and row.id)
    elsewhere = read_active_space(tx, agent.id, look.active_space_id, look.person) if moved else None
    if row is None:
        return Scene(common, elsewhere=elsewhere)
    active = ActiveSpace(
        row.id, row.name, row.head_seq, row.processed_seq or 0, row.triggers, phase=row.phase, governed=row.governed
    )
    if elsewhere is None:
        # The handover is shown apart (R6).
        about = {**read_about(tx, row.id, row), "phase_by": None, "summary": None}
        active = replace(active, summarised=row.summaries, **about)
    common = replace(common, active=active)
    place = _as_place(row, _known_then(first, row) if first else row.processed_seq)
    if _is_orchestrator(row, agent):
        return Scene(common, place, elsewhere=elsewhere, routing=_read_routing(tx, agent, place, trigger))
    resume = look.resume
    start = window_start(config, place.trigger_seq)
    window, damaged = read_window(tx, place.id, start, place.trigger_seq - 1)
    history, edits = with_edits(tx, agent.id, window)
    common = replace(common, edits=_before(edits, place.trigger_seq))
    there = read_window(tx, elsewhere.id, elsewhere.total - _ELSEWHERE + 1, elsewhere.total)[0] if elsewhere else []
    said = (trigger["text"], *(each.text for each in (*history, *there)))
    quoted = {named for text in said for named in references(text)}
    quoted |= {str(each.origin["sourceEvent"]) for each in history if each.origin and "sourceEvent" in each.origin}
    return Scene(
        common,
        place,
        history,
        start - 1,
        damaged,
        read_quoted(tx, agent.id, quoted, look.person),
        elsewhere,
        tuple(there),
        _read_answer(tx, place.id, resume, there),
        first_seq=start,
    )


def load_routing(
    tx: Tx, agent: Who, config: AgentConfig, common: timeline.Scene, event: Mapping[str, Any]
) -> Scene | None:
    """The routing view of an event; None if the agent is no longer the orchestrator of the space."""
    row = _place(tx, agent, config, event, _ANY_TIME)
    if row is None or not _is_orchestrator(row, agent):
        return None
    place = _as_place(row, row.processed_seq)
    return Scene(replace(common, trigger=event), place, routing=_read_routing(tx, agent, place, event))


def window_start(config: AgentConfig, trigger_seq: int) -> int:
    """Moves in steps of half a window, so that the prompt's prefix stays the same for many runs."""
    return stepped_start(config, trigger_seq - 1)


def _read_answer(
    tx: Tx, space_id: str, resume: timeline.Resume | None, there: Sequence[timeline.Message]
) -> timeline.Message | None:
    if resume is None or resume.message_id is None or any(each.id == resume.message_id for each in there):
        return None
    return read_one(tx, space_id, resume.message_id)


def _before(edits: Mapping[int, Sequence[timeline.Edit]], trigger_seq: int) -> dict[int, tuple[timeline.Edit, ...]]:
    """Later edits are shown to the next run, after this trigger."""
    return {seq: tuple(each for each in group if each.at_seq < trigger_seq) for seq, group in edits.items()}


def _place(tx: Tx, agent: Who, config: AgentConfig, trigger: Mapping[str, Any], tried_at: Millis) -> sa.Row[Any] | None:
    asked = {"space": trigger["spaceId"], "message": trigger.get("messageId"), "tried_at": tried_at}
    return tx.one(statements.PLACE, {**asked, "agent": agent.id, "window": config.window})


def _is_orchestrator(row: sa.Row[Any], agent: Who) -> bool:
    return bool(row.triggers == "orchestrated" and row.orchestrator_id == agent.id)


def _as_place(row: sa.Row[Any], since: int | None) -> Place:
    return Place(
        row.id,
        row.name,
        row.trigger_seq or row.head_seq,
        since,
        row.phase,
        row.summary,
        row.session_id,
        row.another_person is not None,
        bool(row.spoke_since),
        row.summary_by,
    )


def _known_then(first: sa.Row[Any], row: sa.Row[Any]) -> int | None:
    """The newest message that the agent knew at the first attempt, unless that attempt showed nothing."""
    shown = first.shown or {}
    if row.id not in (shown.get("shown") or {}):
        return row.processed_seq  # type: ignore[no-any-return]
    return (shown.get("since") or {}).get(row.id)


def _read_routing(tx: Tx, agent: Who, place: Place, trigger: Mapping[str, Any]) -> Routing:
    """R8: turns are rows; who takes part in one, and how far they are, is in the deliveries."""
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
    said = _said(tx, place, sorted({run for each in participants for run in _runs(each)}))
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


def _said(tx: Tx, place: Place, runs: Sequence[str]) -> Sequence[sa.Row[Any]]:
    """Leaves out the messages of a run if one of them is damaged (R9)."""
    if not runs:
        return ()
    with suppress(Unreadable), reading():
        return tx.all(statements.SAID, {"runs": runs, "space": place.id})
    return [row for each in runs for row in _said(tx, place, [each])] if len(runs) > 1 else ()


def _participant(row: sa.Row[Any], said: Iterable[sa.Row[Any]]) -> Participant:
    runs = _runs(row)
    return Participant(row.name, row.state, tuple(each.text for each in said if each.run_id in runs))


def _runs(delivery: sa.Row[Any]) -> list[str]:
    """All runs of the delivery, also failed ones: their messages were sent."""
    return [*delivery.payload.get("earlierRuns", ()), *([delivery.run_id] if delivery.run_id else [])]
