"""The reads behind a scene. Each is bounded by a limit or a window and goes along an index, so its cost depends neither
on how long a history is nor on how many members a space has (X11)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.store.tables import entities, goals, members, memories, messages, plans, runs, spaces

MAX_SPACES = 100
MAX_MEMBERS = 20
MAX_RUNS = 20

_AGENT: sa.BindParameter[str] = sa.bindparam("agent")

ACTIVE_SPACE = (
    sa.select(spaces.c.id, spaces.c.name, spaces.c.head_seq, members.c.processed_seq)
    .join(members, members.c.space_id == spaces.c.id)
    .where(spaces.c.id == sa.bindparam("space"), spaces.c.deleted_at.is_(None), members.c.entity_id == _AGENT)
)

# In the order of the fields of `scene.Message`, its sender written out.
_MESSAGES = sa.select(
    messages.c.id,
    messages.c.space_id,
    messages.c.seq,
    messages.c.sender_id,
    entities.c.name.label("sender_name"),
    entities.c.type.label("sender_type"),
    messages.c.kind,
    messages.c.text,
    messages.c.reply_to,
    messages.c.created_at,
    messages.c.run_id,
    messages.c.tool,
    messages.c.origin,
).join(entities, entities.c.id == messages.c.sender_id)

_IN_SPACE = messages.c.space_id == sa.bindparam("space")
WINDOW = _MESSAGES.where(_IN_SPACE, messages.c.seq.between(sa.bindparam("start"), sa.bindparam("end"))).order_by(
    messages.c.seq
)
ONE_OF_SPACE = _MESSAGES.where(_IN_SPACE, messages.c.id == sa.bindparam("id"))
# X12, M14: only what the agent may read at this moment.
READABLE = (
    _MESSAGES.join(members, members.c.space_id == messages.c.space_id)
    .join(spaces, spaces.c.id == messages.c.space_id)
    .where(
        messages.c.id.in_(sa.bindparam("ids", expanding=True)),
        members.c.entity_id == _AGENT,
        spaces.c.deleted_at.is_(None),
    )
)

_of_space = members.alias("of_space")
# Of a crowd the oldest entities are listed: the key's own order, so that the rest need not be read.
_LAST_LISTED = (
    sa.select(_of_space.c.entity_id)
    .where(_of_space.c.space_id == members.c.space_id)
    .order_by(_of_space.c.entity_id)
    .offset(MAX_MEMBERS)
    .limit(1)
    .scalar_subquery()
)
_HOW_MANY = (
    sa.select(sa.func.count())
    .select_from(_of_space)
    .where(_of_space.c.space_id == members.c.space_id)
    .scalar_subquery()
)
_mine = (
    sa.select(
        members.c.space_id,
        members.c.role,
        spaces.c.name,
        _LAST_LISTED.label("last_listed"),
        _HOW_MANY.label("how_many"),
    )
    .join(spaces, spaces.c.id == members.c.space_id)
    .where(members.c.entity_id == _AGENT, spaces.c.deleted_at.is_(None))
    .order_by(members.c.space_id.desc())
    .limit(MAX_SPACES)
    .cte("mine")
)
_everyone = members.alias("everyone")
_ALL_MINE = sa.select(sa.func.count()).select_from(members).where(members.c.entity_id == _AGENT).scalar_subquery()
OWN_SPACES = (
    sa.select(
        *_mine.c["space_id", "role", "name", "how_many"],
        entities.c.id.label("member_id"),
        entities.c.name.label("member_name"),
        entities.c.type.label("member_type"),
        _ALL_MINE.label("all_mine"),
    )
    .select_from(_mine)
    .join(
        _everyone,
        sa.and_(
            _everyone.c.space_id == _mine.c.space_id,
            _everyone.c.entity_id <= sa.func.coalesce(_mine.c.last_listed, "~"),
        ),
    )
    .join(entities, entities.c.id == _everyone.c.entity_id)
    .order_by(_mine.c.space_id, entities.c.name, entities.c.id)
)


OTHER_RUNS = (
    sa.select(runs.c.id, runs.c.status, runs.c.trigger, runs.c.wait_space_id)
    .where(
        runs.c.agent_id == _AGENT,
        runs.c.status.in_(("queued", "running", "waiting_reply", "waiting_tool")),
        runs.c.id != sa.bindparam("run"),
    )
    .order_by(runs.c.id)
    .limit(MAX_RUNS)
)

_TEXT, _NUMBER = sa.Text(), sa.BigInteger()
_KEPT_COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    "id": _TEXT,
    "text": _TEXT,
    "number": _NUMBER,
    "long_term": _NUMBER,
    "name": _TEXT,
    "cron": _TEXT,
    "run_after": _TEXT,
}


def _kept(what: str, table: sa.Table, **columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    cast = (sa.cast(columns.get(name, sa.null()), kind).label(name) for name, kind in _KEPT_COLUMNS.items())
    return sa.select(sa.literal_column(f"'{what}'").label("what"), *cast).where(table.c.agent_id == _AGENT)


# Goals, memories and plans in one statement: three small tables are not worth three round trips.
KEPT = sa.union_all(
    _kept(
        "goal",
        goals,
        id=goals.c.id,
        text=goals.c.description,
        number=goals.c.priority,
        long_term=sa.case((goals.c.long_term, 1), else_=0),
    ).where(goals.c.status == "active"),
    _kept("memory", memories, id=memories.c.key, text=memories.c.value),
    _kept(
        "plan",
        plans,
        id=plans.c.id,
        text=plans.c.instruction,
        number=plans.c.next_at,
        name=plans.c.name,
        cron=plans.c.cron,
        run_after=plans.c.run_after,
    ).where(plans.c.status == "active"),
)
