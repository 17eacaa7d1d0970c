"""Tells connected clients about an import: clients reload changed spaces, and new members get the event for joining.

An import is too large for single events, so the space's log gets a `resync`: with the first change, and again at the
end if more was changed since.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from majlis.live import log
from majlis.spaces.members import get_member
from majlis.store.tables import entities, spaces, tokens
from majlis.store.transactions import Tx
from majlis.transfer.parse import Line
from majlis.transfer.report import Verdicts

_SPACE_COLUMN = {"space": "id", "member": "space_id", "message": "space_id", "phase": "space_id"}


class Notified(NamedTuple):
    """`created`: spaces and entities that this import created. `told`: spaces whose members were notified. `again`:
    those of them that have changed since."""

    created: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


def notify(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, before: Notified) -> Notified:
    new = [line for line in lines if verdicts[line.raw.number].outcome == "imported"]
    changed = [line for line in lines if verdicts[line.raw.number].outcome in ("imported", "updated")]
    created = before.created | {line.values["id"] for line in new if line.kind.name in ("space", "entity")}
    touched = {line.values[_SPACE_COLUMN[line.kind.name]] for line in changed if line.kind.name in _SPACE_COLUMN}
    to_reload = _not_deleted(tx, touched - created - before.told)
    joined = _reachable(
        tx, [line for line in new if line.kind.name == "member" and line.values["entity_id"] not in created]
    )
    for space_id in sorted(to_reload):
        resync(tx, space_id)
    _notify_joined(tx, joined)
    return Notified(
        created, before.told | to_reload | {space_id for space_id, _ in joined}, before.again | (touched & before.told)
    )


def resync(tx: Tx, space_id: str) -> None:
    log.record_for_space(tx, space_id, "resync", {"spaceId": space_id})


def _not_deleted(tx: Tx, space_ids: set[str]) -> set[str]:
    if not space_ids:
        return set()
    statement = sa.select(spaces.c.id).where(spaces.c.id.in_(space_ids), spaces.c.deleted_at.is_(None))
    return {row.id for row in tx.all(statement)}


def _reachable(tx: Tx, lines: Sequence[Line]) -> list[tuple[str, str]]:
    """New members that may be connected: those with a token, and owners, who can use MAJLIS_OWNER_TOKEN."""
    if not lines:
        return []
    has_token = sa.exists().where(tokens.c.entity_id == entities.c.id, tokens.c.ended_at.is_(None))
    statement = sa.select(entities.c.id).where(
        entities.c.id.in_({line.values["entity_id"] for line in lines}),
        entities.c.deleted_at.is_(None),
        sa.or_(has_token, entities.c.role == "owner"),
    )
    found = {row.id for row in tx.all(statement)}
    living = _not_deleted(tx, {line.values["space_id"] for line in lines})
    pairs = ((line.values["space_id"], line.values["entity_id"]) for line in lines)
    return sorted((space_id, entity_id) for space_id, entity_id in pairs if entity_id in found and space_id in living)


def _notify_joined(tx: Tx, joined: Sequence[tuple[str, str]]) -> None:
    """The same events as for joining. The lock order is spaces before entities."""
    notices = []
    for space_id, entity_id in joined:
        member = get_member(tx, space_id, entity_id)
        data: dict[str, Any] = {"spaceId": space_id, "entityId": entity_id, "member": member}
        seq = log.record_for_space(tx, space_id, "space.member.joined", data)
        notices.append((entity_id, {**data, "eventSeq": seq}))
    for entity_id, data in sorted(notices, key=lambda notice: notice[0]):
        log.record_for_entity(tx, entity_id, "space.member.joined", data)
