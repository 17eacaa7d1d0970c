"""Which budgets apply to a run, and whether one of them is spent.

Each worker adds to spend rows of its own, so requests do not queue up for one row. A check sums them: workers that
check at the same time overspend by no more than the requests that are under way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis import clock
from majlis.store.hot import hot
from majlis.store.tables import budgets, spend
from majlis.store.transactions import Dialect, Tx

BudgetScope = Literal["gateway", "space", "agent", "person", "cause"]
# By scope: the id of the run's space, agent, person and cause.
Keys = Mapping[BudgetScope, str]

_DAY = sa.bindparam("day", type_=sa.String)
_SCOPES: tuple[BudgetScope, ...] = ("gateway", "space", "agent", "person", "cause")
_ALL = (
    sa.select(budgets.c.scope, budgets.c.scope_id, budgets.c.usd, budgets.c.tokens)
    .union_all(
        # From the settings. The stricter of it and the stored budgets applies.
        sa.select(
            sa.literal_column("'gateway'", sa.String),
            sa.literal_column("''", sa.String),
            sa.cast(sa.bindparam("setting"), sa.Double),
            sa.cast(sa.null(), sa.BigInteger),
        ).where(sa.cast(sa.bindparam("setting"), sa.Double).is_not(None))
    )
    .subquery("every")
)
_ID = sa.case({scope: sa.bindparam(scope, type_=sa.String) for scope in _SCOPES}, value=_ALL.c.scope, else_=sa.null())
_SPENT = (
    sa.select(
        _ALL.c.scope,
        _ALL.c.scope_id,
        _ALL.c.usd,
        _ALL.c.tokens,
        sa.func.coalesce(sa.func.sum(spend.c.usd), 0.0).label("spent_usd"),
        sa.cast(sa.func.coalesce(sa.func.sum(spend.c.tokens), 0), sa.BigInteger).label("spent_tokens"),
    )
    .outerjoin(
        spend,
        sa.and_(
            spend.c.day == sa.case((_ALL.c.scope == "cause", ""), else_=_DAY),
            spend.c.scope == _ALL.c.scope,
            spend.c.scope_id == _ID,
        ),
    )
    .where(sa.or_(_ALL.c.scope_id == "", _ALL.c.scope_id == _ID))
    .group_by(_ALL.c.scope, _ALL.c.scope_id, _ALL.c.usd, _ALL.c.tokens)
)
# Locks the budgets before a run is parked: a raise that commits first is seen, and a later one finds the parked run.
_SHARE = sa.select(budgets.c.scope).order_by(budgets.c.scope, budgets.c.scope_id).with_for_update(read=True)


class Charge(TypedDict):
    """A row of `spend` to add to."""

    day: str
    scope: BudgetScope
    scope_id: str
    worker: str
    usd: float
    tokens: int


class SpentBudget(NamedTuple):
    scope: BudgetScope
    # The id of the space, agent, person or cause; empty for the gateway.
    id: str


@dataclass(frozen=True, slots=True)
class Check:
    # The scopes that have a budget, and so are charged.
    scopes: frozenset[BudgetScope] = frozenset()
    spent: SpentBudget | None = None


@dataclass(slots=True)
class Budgets:
    """What this process knows of the budgets. Without budgets, a request costs no extra statement."""

    timezone: str = "UTC"
    # `budget_usd_per_day` of the settings.
    usd_per_day: float | None = None
    # The name of this process in `spend`.
    worker: str = ""
    # True if there is a budget. Updated with every poll, and by a signal when budgets change.
    apply: bool = False

    def learn(self, stored: bool) -> None:
        self.apply = stored or self.usd_per_day is not None

    def today(self) -> str:
        return clock.day_of(clock.now(), self.timezone)

    def charges(self, keys: Keys, scopes: Iterable[BudgetScope], usd: float, tokens: int) -> list[Charge]:
        day = self.today()
        return [
            {
                "day": "" if scope == "cause" else day,
                "scope": scope,
                "scope_id": keys[scope],
                "worker": self.worker,
                "usd": usd,
                "tokens": tokens,
            }
            for scope in scopes
            if scope in keys
        ]


def check_budgets(tx: Tx, keys: Keys, day: str, usd_per_day: float | None, lock: bool = False) -> Check:
    """One indexed read."""
    if lock and tx.dialect == "postgresql":
        tx.execute(_SHARE)
    given: dict[str, Any] = {scope: keys.get(scope) for scope in _SCOPES}
    rows = tx.all(_SPENT, {**given, "day": day, "setting": usd_per_day})
    mine = [row for row in rows if row.scope in keys]
    named = {row.scope for row in mine if row.scope_id}
    # A budget for one agent replaces the one for every agent.
    holding = [row for row in mine if row.scope_id or row.scope not in named]
    spent = next((SpentBudget(row.scope, keys[row.scope]) for row in holding if is_spent(row)), None)
    return Check(frozenset(row.scope for row in holding), spent)


def is_spent(row: sa.Row[Any]) -> bool:
    return bool(
        (row.usd is not None and row.spent_usd >= row.usd)
        or (row.tokens is not None and row.spent_tokens >= row.tokens)
    )


def charge(tx: Tx, charges: Sequence[Charge]) -> None:
    """Writes in the order of the key, because the runs of a worker add to the same rows. Call it after all spaces are
    locked."""
    if not charges:
        return
    added: dict[tuple[str, str, str, str], Charge] = {}
    for each in charges:
        key = each["day"], each["scope"], each["scope_id"], each["worker"]
        before = added.get(key)
        usd, tokens = (before["usd"], before["tokens"]) if before else (0.0, 0)
        added[key] = {**each, "usd": usd + each["usd"], "tokens": tokens + each["tokens"]}
    tx.execute(_ADD[tx.dialect], [dict(added[key]) for key in sorted(added)])


def _adding(insert: Any) -> Any:
    more = {"usd": spend.c.usd + insert.excluded.usd, "tokens": spend.c.tokens + insert.excluded.tokens}
    return hot(insert.on_conflict_do_update(index_elements=["day", "scope", "scope_id", "worker"], set_=more))


_ADD: dict[Dialect, Any] = {"sqlite": _adding(sqlite.insert(spend)), "postgresql": _adding(postgresql.insert(spend))}
