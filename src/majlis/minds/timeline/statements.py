"""The statements that load a scene. Each uses an index and has a limit or a window, so that its cost depends neither on
the length of the history nor on the number of members (X11)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.store.hot import hot
from majlis.store.tables import entities, goals, members, memories, messages, plans, runs, spaces
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Dialect

MAX_SPACES = 100
MAX_MEMBERS = 20
MAX_RUNS = 20

_AGENT: sa.BindParameter[str] = sa.bindparam("agent")

# For a space that is not among the listed ones, and for minds that list none.
ACTIVE_SPACE = hot(
    sa.select(spaces.c.id, spaces.c.name, spaces.c.head_seq, members.c.processed_seq)
    .join(members, members.c.space_id == spaces.c.id)
    .where(spaces.c.id == sa.bindparam("space"), spaces.c.deleted_at.is_(None), members.c.entity_id == _AGENT)
)

# In the order of the fields of `scene.Message`, with the sender's fields in place of the sender. The outer join returns
# a message whose sender is missing, so that it is reported as damaged.
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
).outerjoin(entities, entities.c.id == messages.c.sender_id)

_IN_SPACE = messages.c.space_id == sa.bindparam("space")
WINDOW = hot(
    _MESSAGES.where(_IN_SPACE, messages.c.seq.between(sa.bindparam("start"), sa.bindparam("end"))).order_by(
        messages.c.seq
    )
)
# To read a window with damaged rows one by one (R9).
NUMBERS = WINDOW.with_only_columns(messages.c.seq)
BY_NUMBER = _MESSAGES.where(messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq"))
ONE_OF_SPACE = _MESSAGES.where(_IN_SPACE, messages.c.id == sa.bindparam("id"))
# X12, M14: only messages that the agent may read now.
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
_IN_ALL = (
    sa.select(sa.func.count())
    .select_from(_of_space)
    .where(_of_space.c.space_id == members.c.space_id)
    .scalar_subquery()
)
_mine = (
    sa.select(
        members.c.space_id,
        members.c.role,
        members.c.processed_seq,
        spaces.c.name,
        spaces.c.head_seq,
        _IN_ALL.label("how_many"),
    )
    .join(spaces, spaces.c.id == members.c.space_id)
    .where(members.c.entity_id == _AGENT, spaces.c.deleted_at.is_(None))
    .order_by(members.c.space_id.desc())
    .limit(MAX_SPACES)
    .cte("mine")
)
# A large space lists its oldest members: in the order of the key, so that the rest need not be read.
_IN_ORDER = (
    sa.select(_of_space.c.entity_id).where(_of_space.c.space_id == _mine.c.space_id).order_by(_of_space.c.entity_id)
)
_ALL_MINE = sa.select(sa.func.count()).select_from(members).where(members.c.entity_id == _AGENT).scalar_subquery()


def _own_spaces(listed: sa.FromClause, condition: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(
            *_mine.c,
            entities.c.id.label("member_id"),
            entities.c.name.label("member_name"),
            entities.c.type.label("member_type"),
            _ALL_MINE.label("all_mine"),
        )
        .select_from(_mine)
        .join(listed, condition)
        .join(entities, entities.c.id == listed.c.entity_id)
        .order_by(_mine.c.space_id, entities.c.name, entities.c.id)
    )


def _up_to_the_last_listed() -> sa.Select[Any]:
    everyone = members.alias("everyone")
    last = sa.func.coalesce(_IN_ORDER.offset(MAX_MEMBERS).limit(1).scalar_subquery(), "~")
    return _own_spaces(everyone, sa.and_(everyone.c.space_id == _mine.c.space_id, everyone.c.entity_id <= last))


# SQLite has no LATERAL. PostgreSQL misjudges a range with an unknown end and then reads all entities.
OWN_SPACES: dict[Dialect, sa.Select[Any]] = {
    "sqlite": hot(_up_to_the_last_listed()),
    "postgresql": hot(_own_spaces(_IN_ORDER.limit(MAX_MEMBERS + 1).lateral("listed"), sa.true())),
}

OTHER_RUNS = hot(
    sa.select(runs.c.id, runs.c.status, runs.c.trigger, runs.c.wait_space_id)
    .where(runs.c.agent_id == _AGENT, NOT_OVER, runs.c.id != sa.bindparam("run"))
    # Uses the index on (agent, status); ordering by id would read all runs that the agent ever had.
    .order_by(runs.c.status.desc())
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


# Goals, memories and plans in one round trip.
KEPT = hot(
    sa.union_all(
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
)
