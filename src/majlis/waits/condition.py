"""The condition of a wait: who has to answer, and how many (W1–W3). A wait that cannot end well is refused (W8).

Everything is checked in the transaction that posts the question: an error sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from majlis.agents.schedules import parse_run_after
from majlis.errors import Invalid
from majlis.spaces.mentions import find_named
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import agents, deliveries, entities, members, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

MAX_NAMES = 50
MAX_WITHIN_SECONDS = 7 * 24 * 3600
Need = int | Literal["any", "all"]

_PAUSED = sa.select(agents.c.id).where(
    agents.c.id.in_(sa.bindparam("agents", expanding=True)), agents.c.paused_at.is_not(None)
)
_WOKEN = sa.exists().where(
    deliveries.c.message_id == sa.bindparam("message"), deliveries.c.agent_id == members.c.entity_id
)
# People and services can always answer; an agent only if the question wakes it.
_ABLE = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(
        members.c.space_id == sa.bindparam("space"),
        members.c.entity_id != sa.bindparam("asker"),
        members.c.role != word("viewer"),
        sa.or_(entities.c.type == word("human"), ~sa.bindparam("people_only", type_=sa.Boolean)),
        sa.or_(entities.c.type != word("agent"), sa.and_(sa.bindparam("agents_can", type_=sa.Boolean), _WOKEN)),
    )
    .limit(sa.bindparam("needed"))
)
_NAMED_ABLE = _ABLE.where(members.c.entity_id.in_(sa.bindparam("named", expanding=True)))
_DEPTH_LIMIT = sa.select(spaces.c.max_chain_depth).where(spaces.c.id == sa.bindparam("space"))


@dataclass(frozen=True, slots=True)
class Condition:
    """`named` are the members who can answer, or None for any member. `need` is None for one answer."""

    seconds: int
    named: tuple[sa.Row[Any], ...] | None = None
    need: int | Literal["all"] | None = None

    @property
    def needed(self) -> int:
        return len(self.named or ()) if self.need == "all" else self.need or 1

    @property
    def is_for_agents(self) -> bool:
        return self.named is not None and all(row.type == "agent" for row in self.named)


def read_condition(
    tx: Tx, space_id: str, asker: str, names: Sequence[str] | None, need: Need | None, seconds: int
) -> Condition:
    """Names are resolved now: a member who is renamed later still counts."""
    wanted = None if need is None or need == "any" or need == 1 else need
    if names is None:
        if wanted == "all":
            raise _refused('need: "all" requires from: the names of the members who have to answer')
        return Condition(seconds, None, wanted)
    named = _named(tx, space_id, asker, names)
    condition = Condition(seconds, named, wanted)
    if condition.needed > len(named):
        raise _refused(f"need is {condition.needed}, but from has {len(named)} member{'s' * (len(named) > 1)}")
    return condition


def _named(tx: Tx, space_id: str, asker: str, names: Sequence[str]) -> tuple[sa.Row[Any], ...]:
    found = find_named(tx, space_id, names)
    for name in names:
        row = found.get(name)
        if row is None:
            raise _refused(f"{name} in from is not a member of this space. Use names or ids of its members")
        if row.role == "viewer":
            raise _refused(f"{row.name} in from has read-only access to this space and cannot answer")
        if row.id == asker:
            raise _refused("from contains yourself, and you cannot answer your own question")
    named = {found[name].id: found[name] for name in names}
    paused = tx.all(_PAUSED, {"agents": sorted(named)})
    if paused:
        raise _refused(f"{named[paused[0].id].name} in from is paused and cannot answer")
    return tuple(named.values())


def parse_within(text: str) -> int:
    """Returns seconds."""
    try:
        seconds = parse_run_after(text) // 1000
    except Invalid as error:
        raise _refused(error.message.removesuffix(".").replace("runAfter", "within")) from None
    if seconds > MAX_WITHIN_SECONDS:
        raise _refused("within is longer than a week, which is the limit")
    return seconds


def require_answerable(tx: Tx, question: MessageJson, condition: Condition) -> None:
    """Called after the question is posted and delivered. If too few members can answer it, the error rolls it back
    (W8)."""
    able = able_members(tx, question, condition)
    if len(able) < condition.needed:
        raise _refused(_hopeless(len(able), condition, _agents_can(tx, question)))


def able_members(
    tx: Tx, question: MessageJson, condition: Condition, asker_too: bool = False, people_only: bool = False
) -> Sequence[sa.Row[Any]]:
    """Members who can answer the posted question: as many as the condition needs, or all of them if they are fewer."""
    given: dict[str, Any] = {
        "space": question["spaceId"],
        "message": question["id"],
        "asker": "" if asker_too else question["sender"]["id"],
        "agents_can": _agents_can(tx, question),
        "people_only": people_only,
        "needed": condition.needed,
    }
    if condition.named is None:
        return tx.all(_ABLE, given)
    return tx.all(_NAMED_ABLE, {**given, "named": [row.id for row in condition.named]})


def _agents_can(tx: Tx, question: MessageJson) -> bool:
    """An agent's answer would be one hop deeper, and beyond the limit it would resume no run."""
    of_space = tx.execute(_DEPTH_LIMIT, {"space": question["spaceId"]}).scalar_one()
    return bool(question["chainDepth"] + 1 < tx.hooks.depth_limit(of_space))


def _hopeless(able: int, condition: Condition, agents_can: bool) -> str:
    who = "no member" if able == 0 else f"only {able} member{'s' * (able > 1)}"
    needed = "" if condition.needed == 1 else f", and need is {condition.needed}"
    why = "" if agents_can else " (agents have replied to each other too often in a row; only a person could answer)"
    hint = "Send without wait, or mention an agent that this message should wake" if agents_can else "Send without wait"
    return f"{who} of this space could answer it{needed}{why}. {hint}"


def _refused(problem: str) -> Invalid:
    return Invalid("invalid_wait", f"Nothing was sent: {problem}.")
