"""Phases of a space's work, with a handover at each change (R6)."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.spaces.access import access_space, lock_space
from majlis.spaces.post import checked_text
from majlis.spaces.shapes import PhaseJson, phase_json
from majlis.spaces.spaces import tell_space_updated
from majlis.store import ids
from majlis.store.tables import phases, spaces
from majlis.store.transactions import Tx

MAX_PHASE_BYTES = 64


@dataclass(frozen=True, slots=True)
class PhaseChange:
    phase: str
    message: str | None = None
    summary: str | None = None
    reason: str | None = None


def change_phase(tx: Tx, caller: Caller, space_id: str, change: PhaseChange) -> PhaseJson:
    space = lock_space(tx, caller, space_id, "write")
    values = {
        "id": ids.new("phs"),
        "space_id": space_id,
        "from_phase": space.phase,
        "to_phase": checked_text(change.phase, "phase", MAX_PHASE_BYTES),
        "message": _optional(change.message, "message"),
        "summary": _optional(change.summary, "summary"),
        "reason": _optional(change.reason, "reason"),
        "entity_id": caller.id,
        "at_seq": space.head_seq,
        "created_at": tx.now,
    }
    phase = phase_json(tx.execute(phases.insert().returning(*phases.c), values).one())
    tx.execute(spaces.update().where(spaces.c.id == space_id).values(phase=change.phase))
    tell_space_updated(tx, caller, space_id, phase=phase)
    return phase


def list_phases(tx: Tx, caller: Caller, space_id: str, limit: int = 100) -> list[PhaseJson]:
    """Newest first."""
    access_space(tx, caller, space_id)
    statement = sa.select(phases).where(phases.c.space_id == space_id).order_by(phases.c.id.desc()).limit(limit)
    return [phase_json(row) for row in tx.all(statement)]


def _optional(text: str | None, path: str) -> str | None:
    return None if text is None else checked_text(text, path)
