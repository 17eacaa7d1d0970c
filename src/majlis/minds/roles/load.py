"""From the database to a scene: eight reads at most, in one snapshot, whatever the length of the history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig
from majlis.clock import Millis
from majlis.minds.roles import statements
from majlis.minds.roles.orchestrating import read_routing
from majlis.minds.roles.reading import read_one, read_window
from majlis.minds.roles.scene import Place, Scene
from majlis.minds.timeline import scene as timeline
from majlis.minds.timeline.load import load_scene as load_common
from majlis.minds.timeline.load import message_of
from majlis.minds.timeline.message_links import references
from majlis.minds.timeline.scene import Action, ActiveSpace, Message, Resume, Who
from majlis.minds.timeline.statements import ACTIVE_SPACE, READABLE
from majlis.minds.timeline.window import stepped_start
from majlis.spaces.damage import read_named
from majlis.store.transactions import Tx

# At a first look whatever has happened counts, by whichever node's clock.
_ANY_TIME: Millis = 2**62


def load_scene(
    tx: Tx,
    agent: Who,
    config: AgentConfig,
    run_id: str,
    trigger: Mapping[str, Any],
    active_space_id: str | None,
    actions: Sequence[Action] = (),
    resume: Resume | None = None,
    tried: str | None = None,
) -> Scene:
    """`tried` is the first run that this trigger was tried by, if there was one."""
    # Without what the trigger says: what it quotes is looked up here, together with what the history quotes.
    silent = {name: value for name, value in trigger.items() if name != "text"}
    common = load_common(tx, agent, config, run_id, silent, None, actions, resume, alone=True)
    common = replace(common, trigger=trigger)
    space_id = trigger.get("spaceId")
    first = tx.one(statements.KNOWN_THEN, {"run": tried}) if tried else None
    tried_at = first.created_at if first else _ANY_TIME
    row = _place(tx, agent, config, trigger, tried_at) if space_id is not None else None
    elsewhere = _elsewhere(tx, agent, active_space_id) if active_space_id not in (None, row and row.id) else None
    if row is None:
        return Scene(common, elsewhere=elsewhere)
    common = replace(common, active=ActiveSpace(row.id, row.name, row.head_seq, row.processed_seq or 0))
    place = _as_place(row, _known_then(first, row) if first else row.processed_seq)
    if _conducts(row, agent):
        return Scene(common, place, elsewhere=elsewhere, routing=read_routing(tx, agent, place, trigger))
    start = window_start(config, place.trigger_seq)
    history, damaged = read_window(tx, place.id, start, place.trigger_seq - 1)
    return Scene(
        common,
        place,
        history,
        start - 1,
        damaged,
        _quoted(tx, agent, history, trigger),
        elsewhere,
        _answer(tx, place, resume),
    )


def load_routing(
    tx: Tx, agent: Who, config: AgentConfig, common: timeline.Scene, event: Mapping[str, Any]
) -> Scene | None:
    """What the orchestrator of a space is shown of a message from there; none if it is the orchestrator no more."""
    row = _place(tx, agent, config, event, _ANY_TIME)
    if row is None or not _conducts(row, agent):
        return None
    place = _as_place(row, row.processed_seq)
    return Scene(replace(common, trigger=event), place, routing=read_routing(tx, agent, place, event))


def window_start(config: AgentConfig, trigger_seq: int) -> int:
    """Of the messages before the trigger. In steps of half a window, so that the beginning of what the model reads
    stays the same for many runs."""
    return stepped_start(config, trigger_seq - 1)


def _place(tx: Tx, agent: Who, config: AgentConfig, trigger: Mapping[str, Any], tried_at: Millis) -> sa.Row[Any] | None:
    asked = {"space": trigger["spaceId"], "message": trigger.get("messageId"), "tried_at": tried_at}
    return tx.one(statements.PLACE, {**asked, "agent": agent.id, "window": config.window})


def _conducts(row: sa.Row[Any], agent: Who) -> bool:
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
    )


def _known_then(first: sa.Row[Any], row: sa.Row[Any]) -> int | None:
    """What the agent knew when this trigger was first tried. A try that has shown nothing changes nothing."""
    shown = first.shown or {}
    if row.id not in (shown.get("shown") or {}):
        return row.processed_seq  # type: ignore[no-any-return]
    return (shown.get("since") or {}).get(row.id)


def _elsewhere(tx: Tx, agent: Who, space_id: str | None) -> tuple[str, str] | None:
    row = tx.one(ACTIVE_SPACE, {"space": space_id, "agent": agent.id})
    return (row.id, row.name) if row else None


def _quoted(tx: Tx, agent: Who, history: Iterable[Message], trigger: Mapping[str, Any]) -> dict[str, Message]:
    named = set(references(trigger["text"]))
    for message in history:
        named.update(references(message.text))
    if not named:
        return {}
    return {row.id: message_of(row, {}) for row in read_named(tx, READABLE, sorted(named), agent=agent.id)}


def _answer(tx: Tx, place: Place, resume: Resume | None) -> Message | None:
    if resume is None or resume.message_id is None:
        return None
    return read_one(tx, place.id, resume.message_id)
