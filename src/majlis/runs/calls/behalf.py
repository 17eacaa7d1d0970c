"""Across spaces a run may do no more than the person on whose behalf it acts (G3)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.errors import Forbidden, NotFound
from majlis.runs.run import Run
from majlis.spaces.access import access_space
from majlis.spaces.acts_for import spaces_of
from majlis.spaces.members import find_member
from majlis.store.tables import entities, messages
from majlis.store.transactions import Tx


def access_as_run(tx: Tx, run: Run, space_id: str, what: str) -> sa.Row[Any]:
    """The space, if the run may read it. `what` begins the error: it says what was not done."""
    try:
        space = access_space(tx, run.caller, space_id)
    except NotFound:
        yours = "Your spaces and their ids are under YOUR SPACES."
        raise NotFound("not_a_member", f"{what}: you are not a member of {space_id}. {yours}") from None
    person = run.person_in(space_id)
    if person is not None and find_member(tx, space_id, person) is None:
        raise Forbidden("not_for_this_person", f"{what}: {_why(tx, person, space_id)}")
    return space


def readable_by_run(run: Run) -> sa.ColumnElement[bool]:
    """A condition for messages in the agent's spaces: the run may read them."""
    person = run.limited_to
    if person is None:
        return sa.true()
    return messages.c.space_id.in_(spaces_of(person) if person else sorted(run.asked_in))


def _why(tx: Tx, person: str, space_id: str) -> str:
    if not person:
        return f"it is not known on whose behalf you act, so you stay in the space of your trigger, not {space_id}."
    name = tx.execute(sa.select(entities.c.name).where(entities.c.id == person)).scalar_one()
    return (
        f"you act on behalf of {name}, who is not a member of {space_id}. An admin of that space can add {name}, or an "
        'admin of the gateway can let you act for yourself (actsFor: "itself").'
    )
