"""Outside agents (D2): their events are taken by programs, not by workers."""

import sqlalchemy as sa

from majlis.inbox.pause import RUN_PAUSED
from majlis.store.tables import agents, runs
from majlis.store.tables.agents import IS_OUTSIDE
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER

# Uncorrelated, so that it is evaluated once per statement. Few agents are outside.
OUTSIDE_AGENTS = sa.select(agents.c.id).where(IS_OUTSIDE)
# A program has not renewed its lease, or the agent or space is paused (E7).
LEASE_OVER: sa.ColumnElement[bool] = sa.and_(
    NOT_OVER,
    runs.c.status == word("running"),
    runs.c.agent_id.in_(OUTSIDE_AGENTS),
    sa.or_(runs.c.lease_until < sa.bindparam("now", type_=sa.BigInteger), RUN_PAUSED),
)
