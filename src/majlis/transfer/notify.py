"""Clients that are connected learn of an import: those of a changed space load it anew, new members find theirs.

Events are differences, and an import is too large for one: a `resync` in the space's log says "load it again". It is
recorded with the first thing that changes, and once more at the end if more has come since.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from majlis.live import log
from majlis.spaces.members import find_member
from majlis.spaces.shapes import member_json
from majlis.store.tables import entities, spaces, tokens
from majlis.store.transactions import Tx
from majlis.transfer.checking import Line
from majlis.transfer.verdicts import Verdicts

_SPACE_COLUMN = {"space": "id", "member": "space_id", "message": "space_id", "phase": "space_id"}


class Told(NamedTuple):
    """`born`: spaces and entities that this import made. `told`: spaces whose members have heard of it. `again`: those
    of them to which more has happened since."""

    born: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


def tell(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, before: Told) -> Told:
    new = [line for line in lines if verdicts[line.raw.number].outcome == "imported"]
    changed = [line for line in lines if verdicts[line.raw.number].outcome in ("imported", "updated")]
    born = before.born | {line.values["id"] for line in new if line.kind.name in ("space", "entity")}
    touched = {line.values[_SPACE_COLUMN[line.kind.name]] for line in changed if line.kind.name in _SPACE_COLUMN}
    to_reload = _living(tx, touched - born - before.told)
    joined = _reachable(
        tx, [line for line in new if line.kind.name == "member" and line.values["entity_id"] not in born]
    )
    for space_id in sorted(to_reload):
        resync(tx, space_id)
    _tell_joined(tx, joined)
    return Told(
        born,
        before.told | to_reload | {space_id for space_id, _ in joined},
        before.again | (touched & before.told),
    )


def resync(tx: Tx, space_id: str) -> None:
    log.record_for_space(tx, space_id, "resync", {"spaceId": space_id})


def _living(tx: Tx, touched: set[str]) -> set[str]:
    if not touched:
        return set()
    statement = sa.select(spaces.c.id).where(spaces.c.id.in_(touched), spaces.c.deleted_at.is_(None))
    return {row.id for row in tx.all(statement)}


def _reachable(tx: Tx, lines: Sequence[Line]) -> list[tuple[str, str]]:
    """New members who may be connected: nobody comes in without a token, but the owner by MAJLIS_OWNER_TOKEN."""
    if not lines:
        return []
    way_in = sa.exists().where(tokens.c.entity_id == entities.c.id, tokens.c.ended_at.is_(None))
    asked = {line.values["entity_id"] for line in lines}
    statement = sa.select(entities.c.id).where(
        entities.c.id.in_(asked), entities.c.deleted_at.is_(None), sa.or_(way_in, entities.c.role == "owner")
    )
    found = {row.id for row in tx.all(statement)}
    living = _living(tx, {line.values["space_id"] for line in lines})
    pairs = ((line.values["space_id"], line.values["entity_id"]) for line in lines)
    return sorted((space_id, entity_id) for space_id, entity_id in pairs if entity_id in found and space_id in living)


def _tell_joined(tx: Tx, joined: Sequence[tuple[str, str]]) -> None:
    """As joining does. Spaces before entities: the one order in which locks are taken."""
    notices = []
    for space_id, entity_id in joined:
        member = find_member(tx, space_id, entity_id)
        assert member is not None
        data: dict[str, Any] = {"spaceId": space_id, "entityId": entity_id, "member": member_json(member)}
        seq = log.record_for_space(tx, space_id, "space.member.joined", data)
        notices.append((entity_id, {**data, "eventSeq": seq}))
    for entity_id, data in sorted(notices, key=lambda notice: notice[0]):
        log.record_for_entity(tx, entity_id, "space.member.joined", data)
