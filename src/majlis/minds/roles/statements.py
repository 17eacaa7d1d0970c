"""The statements that load a scene of the roles mind. Each uses an index and has a limit or a window."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.store.tables import deliveries, entities, members, messages, phases, runs, spaces, steps, turns
from majlis.store.tables.columns import word

MAX_TURNS = 20
MAX_AGENTS = 100

_trigger = messages.alias("trigger_message")
_own = messages.alias("own")
_me = members.alias("me")
# The latest phase before the first attempt at the trigger: later attempts show the same summary, also if the trigger is
# older than the change of phase.
_LATEST_PHASE = (
    sa.select(phases.c.summary)
    .where(phases.c.space_id == spaces.c.id, phases.c.created_at <= sa.bindparam("tried_at"))
    .order_by(phases.c.id.desc())
    .limit(1)
)
_SUMMARY = _LATEST_PHASE.scalar_subquery()
_SUMMARY_BY = (
    _LATEST_PHASE.join(entities, entities.c.id == phases.c.entity_id)
    .with_only_columns(entities.c.name)
    .scalar_subquery()
)
# Not null if there are two or more.
_ANOTHER_PERSON = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.space_id == spaces.c.id, entities.c.type == word("human"), members.c.role != word("viewer"))
    .offset(1)
    .limit(1)
    .scalar_subquery()
)
PLACE = (
    sa.select(
        spaces.c.id,
        spaces.c.name,
        spaces.c.head_seq,
        spaces.c.phase,
        spaces.c.tool_policy.is_not(sa.null()).label("governed"),
        spaces.c.pins,
        spaces.c.summaries,
        spaces.c.summarised_seq,
        spaces.c.triggers,
        spaces.c.orchestrator_id,
        _me.c.processed_seq,
        _me.c.session_id,
        _trigger.c.seq.label("trigger_seq"),
        _SUMMARY.label("summary"),
        _SUMMARY_BY.label("summary_by"),
        _ANOTHER_PERSON.label("another_person"),
        sa.exists()
        .where(
            _own.c.space_id == spaces.c.id,
            _own.c.seq.between(_trigger.c.seq + 1, _trigger.c.seq + sa.bindparam("window", type_=sa.Integer)),
            _own.c.sender_id == _me.c.entity_id,
        )
        .label("spoke_since"),
    )
    .select_from(spaces)
    .join(_me, _me.c.space_id == spaces.c.id)
    .outerjoin(_trigger, sa.and_(_trigger.c.id == sa.bindparam("message"), _trigger.c.space_id == spaces.c.id))
    .where(
        spaces.c.id == sa.bindparam("space"), spaces.c.deleted_at.is_(None), _me.c.entity_id == sa.bindparam("agent")
    )
)
# The messages shown at an earlier attempt at the same trigger, and when.
KNOWN_THEN = sa.select(runs.c.shown, runs.c.created_at).where(runs.c.id == sa.bindparam("run"))

REQUEST_OF_TURN = sa.select(turns.c.request_id).where(turns.c.id == sa.bindparam("turn"))


def _latest(*conditions: sa.ColumnElement[bool]) -> sa.Select[tuple[str]]:
    # A subquery, because SQLite can sort and limit only the whole union.
    found = sa.select(turns.c.id).where(_OF_SPACE, *conditions).order_by(turns.c.id.desc()).limit(MAX_TURNS + 1)
    return sa.select(found.subquery().c.id)


_OF_SPACE = turns.c.space_id == sa.bindparam("space")
TURNS = (
    sa.select(turns)
    .where(
        turns.c.id.in_(
            sa.union_all(_latest(turns.c.request_id == sa.bindparam("request")), _latest(turns.c.finished_at.is_(None)))
        )
    )
    .order_by(turns.c.id.desc())
    .limit(MAX_TURNS + 1)
)
PARTICIPANTS = (
    sa.select(deliveries.c.event_id, deliveries.c.state, deliveries.c.run_id, deliveries.c.payload, entities.c.name)
    .join(entities, entities.c.id == deliveries.c.agent_id)
    .where(
        deliveries.c.message_id.in_(sa.bindparam("messages", expanding=True)),
        deliveries.c.event_id.in_(sa.bindparam("turns", expanding=True)),
    )
    .order_by(entities.c.name)
)
SAID = (
    sa.select(steps.c.run_id, messages.c.text)
    .join(messages, messages.c.id == steps.c.output["messageId"].as_string())
    .where(
        steps.c.run_id.in_(sa.bindparam("runs", expanding=True)),
        steps.c.name == word("send_message"),
        messages.c.space_id == sa.bindparam("space"),
    )
    .order_by(messages.c.seq)
)
AGENTS = (
    sa.select(entities.c.name)
    .join(members, members.c.entity_id == entities.c.id)
    .where(
        members.c.space_id == sa.bindparam("space"),
        entities.c.type == word("agent"),
        entities.c.id != sa.bindparam("agent"),
    )
    .order_by(entities.c.name)
    .limit(MAX_AGENTS)
)
