"""The statements that load a scene. Each uses an index and has a limit or a window, so that its cost depends neither on
the length of the history nor on the number of members (X11)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.agents.own_rows import kept_for
from majlis.spaces.acts_for import run_of_person, spaces_of
from majlis.store.hot import among, hot
from majlis.store.tables import entities, goals, members, memories, messages, phases, plans, runs, spaces, summaries
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Dialect

MAX_SPACES = 100
MAX_MEMBERS = 20
MAX_RUNS = 20
MAX_PINS = 10
# With those of blocks that are still in view: a window has at most 500 messages.
MAX_SUMMARIES = 32
# F4: how many messages around the trigger a run sees that is active elsewhere.
BEFORE_ASKED, AFTER_ASKED = 10, 20

_AGENT: sa.BindParameter[str] = sa.bindparam("agent")
# The spaces of the person whose rights bound the run (G3).
_OF_PERSON = spaces_of(sa.bindparam("person"))

# For the view of an active space.
_ABOUT_ACTIVE = (
    spaces.c.name,
    spaces.c.head_seq,
    spaces.c.triggers,
    spaces.c.max_chain_depth,
    spaces.c.phase,
    spaces.c.tool_policy.is_not(sa.null()).label("governed"),
    spaces.c.pins,
    spaces.c.summaries,
    spaces.c.summarised_seq,
    members.c.processed_seq,
)
# For a space that is not among the listed ones, and for minds that list none.
ACTIVE_SPACE = hot(
    sa.select(spaces.c.id, *_ABOUT_ACTIVE)
    .join(members, members.c.space_id == spaces.c.id)
    .where(spaces.c.id == sa.bindparam("space"), spaces.c.deleted_at.is_(None), members.c.entity_id == _AGENT)
)

_ABOUT_COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    "id": sa.Text(),
    "sender_id": sa.Text(),
    "name": sa.Text(),
    "type": sa.Text(),
    "text": sa.Text(),
    "number": sa.BigInteger(),
    "at": sa.BigInteger(),
}


def _about(what: str, source: sa.Select[Any], limit: Any, **columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """A subquery, because SQLite can sort and limit only a whole union."""
    cast = (sa.cast(columns.get(name, sa.null()), kind).label(name) for name, kind in _ABOUT_COLUMNS.items())
    return sa.select(
        sa.literal_column(f"'{what}'").label("what"),
        source.with_only_columns(*cast, maintain_column_froms=True).limit(limit).subquery(f"{what}s"),
    )


# In one round trip, a space's handover, its newest pins and its newest summaries.
ABOUT_SPACE = hot(
    sa.union_all(
        _about(
            "phase",
            sa.select(phases)
            .join(entities, entities.c.id == phases.c.entity_id)
            .where(phases.c.space_id == sa.bindparam("space"))
            .order_by(phases.c.id.desc()),
            1,
            name=entities.c.name,
            text=phases.c.summary,
        ),
        _about(
            "pin",
            sa.select(messages)
            .join(entities, entities.c.id == messages.c.sender_id)
            .where(messages.c.space_id == sa.bindparam("space"), messages.c.pinned_at.is_not(None))
            .order_by(messages.c.pinned_at.desc(), messages.c.seq.desc()),
            MAX_PINS,
            id=messages.c.id,
            sender_id=messages.c.sender_id,
            name=entities.c.name,
            type=entities.c.type,
            text=messages.c.text,
            number=messages.c.seq,
            at=messages.c.created_at,
        ),
        _about(
            "summary",
            sa.select(summaries)
            .where(summaries.c.space_id == sa.bindparam("space"), summaries.c.text.is_not(None))
            .order_by(summaries.c.block.desc()),
            MAX_SUMMARIES,
            text=summaries.c.text,
            number=summaries.c.block,
            at=summaries.c.at_seq,
        ),
    )
)
SHARED_ACTIVE_SPACE = hot(ACTIVE_SPACE.where(spaces.c.id.in_(_OF_PERSON)))


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
    messages.c.stopped_by,
    messages.c.edited_at,
    messages.c.deleted_by,
    messages.c.files,
    messages.c.reactions,
).outerjoin(entities, entities.c.id == messages.c.sender_id)

_IN_SPACE = messages.c.space_id == sa.bindparam("space")
WINDOW = hot(
    _MESSAGES.where(_IN_SPACE, messages.c.seq.between(sa.bindparam("start"), sa.bindparam("end"))).order_by(
        messages.c.seq
    )
)
_asked = messages.alias("asked")
_ASKED_SEQ = (
    sa.select(_asked.c.seq)
    .where(_asked.c.id == sa.bindparam("message"), _asked.c.space_id == sa.bindparam("space"))
    .scalar_subquery()
)
# F4: the messages around the trigger.
AROUND = hot(
    _MESSAGES.where(_IN_SPACE, messages.c.seq.between(_ASKED_SEQ - BEFORE_ASKED, _ASKED_SEQ + AFTER_ASKED)).order_by(
        messages.c.seq
    )
)
NUMBERS_AROUND = AROUND.with_only_columns(messages.c.seq)
# To read a window with damaged rows one by one (R9).
NUMBERS = WINDOW.with_only_columns(messages.c.seq)
BY_NUMBER = _MESSAGES.where(messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq"))
ONE_OF_SPACE = _MESSAGES.where(_IN_SPACE, messages.c.id == sa.bindparam("id"))
# X12, M14: only messages that the agent may read now.
READABLE = hot(
    _MESSAGES.join(members, members.c.space_id == messages.c.space_id)
    .join(spaces, spaces.c.id == messages.c.space_id)
    .where(among(messages.c.id, "ids"), members.c.entity_id == _AGENT, spaces.c.deleted_at.is_(None))
)
SHARED_READABLE = hot(READABLE.where(messages.c.space_id.in_(_OF_PERSON)))


_of_space = members.alias("of_space")
_IN_ALL = (
    sa.select(sa.func.count())
    .select_from(_of_space)
    .where(_of_space.c.space_id == members.c.space_id)
    .scalar_subquery()
)


def _own_spaces(dialect: Dialect, *conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """The spaces with up to `MAX_MEMBERS` members each. A large space lists its oldest members, in the order of the
    key, so that the rest need not be read. SQLite has no LATERAL. PostgreSQL misjudges a range with an unknown end and
    then reads all entities."""
    mine = _mine(*conditions)
    in_order = (
        sa.select(_of_space.c.entity_id).where(_of_space.c.space_id == mine.c.space_id).order_by(_of_space.c.entity_id)
    )
    listed: sa.FromClause
    condition: sa.ColumnElement[bool]
    if dialect == "postgresql":
        listed, condition = in_order.limit(MAX_MEMBERS + 1).lateral("listed"), sa.true()
    else:
        listed = members.alias("everyone")
        last = sa.func.coalesce(in_order.offset(MAX_MEMBERS).limit(1).scalar_subquery(), "~")
        condition = sa.and_(listed.c.space_id == mine.c.space_id, listed.c.entity_id <= last)
    all_mine = sa.select(sa.func.count()).select_from(members).where(members.c.entity_id == _AGENT, *conditions)
    return (
        sa.select(
            *mine.c,
            entities.c.id.label("member_id"),
            entities.c.name.label("member_name"),
            entities.c.type.label("member_type"),
            all_mine.scalar_subquery().label("all_mine"),
        )
        .select_from(mine)
        .join(listed, condition)
        .join(entities, entities.c.id == listed.c.entity_id)
        .order_by(mine.c.space_id, entities.c.name, entities.c.id)
    )


def _mine(*conditions: sa.ColumnElement[bool]) -> sa.CTE:
    return (
        sa.select(members.c.space_id, members.c.role, *_ABOUT_ACTIVE, _IN_ALL.label("how_many"))
        .join(spaces, spaces.c.id == members.c.space_id)
        .where(members.c.entity_id == _AGENT, spaces.c.deleted_at.is_(None), *conditions)
        .order_by(members.c.space_id.desc())
        .limit(MAX_SPACES)
        .cte("mine")
    )


_DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgresql")
OWN_SPACES = {dialect: hot(_own_spaces(dialect)) for dialect in _DIALECTS}
SHARED_SPACES = {dialect: hot(_own_spaces(dialect, members.c.space_id.in_(_OF_PERSON))) for dialect in _DIALECTS}


def _other_runs(*conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(runs.c.id, runs.c.status, runs.c.trigger, runs.c.wait, runs.c.wait_space_id)
        .where(runs.c.agent_id == _AGENT, NOT_OVER, runs.c.id != sa.bindparam("run"), *conditions)
        # Uses the index on (agent, status); ordering by id would read all runs that the agent ever had.
        .order_by(runs.c.status.desc())
        .limit(MAX_RUNS)
    )


OTHER_RUNS = hot(_other_runs())
SHARED_RUNS = hot(_other_runs(run_of_person(sa.bindparam("person"))))


_TEXT, _NUMBER = sa.Text(), sa.BigInteger()
_KEPT_COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    "id": _TEXT,
    "text": _TEXT,
    "number": _NUMBER,
    "long_term": _NUMBER,
    "name": _TEXT,
    "cron": _TEXT,
    "run_after": _TEXT,
    # The name of the space that it came from, or of the person, if the run had no space.
    "source": _TEXT,
}


def _kept(what: str, table: sa.Table, **columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    cast = (sa.cast(columns.get(name, sa.null()), kind).label(name) for name, kind in _KEPT_COLUMNS.items())
    return sa.select(sa.literal_column(f"'{what}'").label("what"), *cast).where(table.c.agent_id == _AGENT)


_SOURCE = sa.func.coalesce(
    sa.select(spaces.c.name).where(spaces.c.id == memories.c.scope_id).scalar_subquery(),
    sa.select(entities.c.name).where(entities.c.id == memories.c.scope_id).scalar_subquery(),
)


def _all_kept(limited: bool) -> sa.CompoundSelect[Any]:
    """Goals, memories and plans in one round trip."""

    def shown(table: sa.Table) -> sa.ColumnElement[bool]:
        return kept_for(table, sa.bindparam("person")) if limited else sa.true()

    return sa.union_all(
        _kept(
            "goal",
            goals,
            id=goals.c.id,
            text=goals.c.description,
            number=goals.c.priority,
            long_term=sa.case((goals.c.long_term, 1), else_=0),
        ).where(goals.c.status == "active", shown(goals)),
        _kept("memory", memories, id=memories.c.key, text=memories.c.value, source=_SOURCE).where(shown(memories)),
        _kept(
            "plan",
            plans,
            id=plans.c.id,
            text=plans.c.instruction,
            number=plans.c.next_at,
            name=plans.c.name,
            cron=plans.c.cron,
            run_after=plans.c.run_after,
        ).where(plans.c.status == "active", shown(plans)),
    )


KEPT, SHARED_KEPT = hot(_all_kept(False)), hot(_all_kept(True))
