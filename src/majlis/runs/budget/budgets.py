"""Lists and replaces budgets, for administrators (E5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from typing_extensions import TypedDict

from majlis import clock
from majlis.audit.record import record
from majlis.entities.caller import Caller
from majlis.errors import Forbidden, Invalid
from majlis.inbox.wake import BUDGETS, WorkAvailable
from majlis.runs.budget.check import BudgetScope, Charge
from majlis.runs.budget.park import release_parked
from majlis.store import ids
from majlis.store.tables import budgets, causes, entities, runs, spaces, spend
from majlis.store.transactions import Dialect, Tx

_DAY = 86_400_000
# The worker of rows that hold what was spent before there was a budget.
_PAST = "past"
_KEYS: dict[BudgetScope, sa.ColumnElement[Any]] = {
    "gateway": sa.literal_column("''", sa.String),
    "space": runs.c.trigger_space_id,
    "agent": runs.c.agent_id,
    "person": runs.c.person_id,
    "cause": runs.c.cause_id,
}
_KNOWN: dict[BudgetScope, sa.Select[Any]] = {
    "space": sa.select(spaces.c.id).where(spaces.c.deleted_at.is_(None)),
    "agent": sa.select(entities.c.id).where(entities.c.type == "agent", entities.c.deleted_at.is_(None)),
    "person": sa.select(entities.c.id).where(entities.c.type != "agent", entities.c.deleted_at.is_(None)),
    "cause": sa.select(causes.c.id),
}


class BudgetJson(TypedDict):
    """The amounts are per day, except for a cause. Without an `id`, the budget applies to each space, agent,
    person or cause that has no budget of its own. The budget of the gateway has no id."""

    scope: BudgetScope
    id: NotRequired[str]
    usd: NotRequired[float]
    tokens: NotRequired[int]


class SpentBudgetJson(BudgetJson):
    # In USD, or in tokens if the budget has only tokens. Without an `id`, that of the space, agent, person or cause
    # that has spent the most.
    spent: float
    spentTokens: int


class BudgetsJson(TypedDict):
    budgets: list[SpentBudgetJson]
    # `budget_usd_per_day` of the settings. The stricter of the two applies.
    usdPerDay: float | None
    currency: Literal["USD"]


def list_budgets(tx: Tx, caller: Caller, day: str, usd_per_day: float | None) -> BudgetsJson:
    _require_admin(caller)
    rows = tx.all(sa.select(budgets).order_by(budgets.c.scope, budgets.c.scope_id))
    return {"budgets": [_json(tx, row, day) for row in rows], "usdPerDay": usd_per_day, "currency": "USD"}


def replace_budgets(
    tx: Tx, caller: Caller, wanted: Sequence[BudgetJson], timezone: str, usd_per_day: float | None
) -> BudgetsJson:
    """Changes the rows, then releases all parked runs: a run that is being parked has locked its budget's row, so it is
    either seen here or sees the change."""
    _require_admin(caller)
    asked = _checked(tx, wanted)
    record(tx, caller, "budgets.changed", count=len(asked))
    day = clock.day_of(tx.now, timezone)
    before = {(row.scope, row.scope_id) for row in tx.all(sa.select(budgets.c.scope, budgets.c.scope_id))}
    for key in sorted(before - asked.keys()):
        tx.execute(budgets.delete().where(budgets.c.scope == key[0], budgets.c.scope_id == key[1]))
    for key in sorted(asked):
        tx.execute(_PUT[tx.dialect], {**asked[key], "updated_at": tx.now})
        if key not in before:
            _count_past(tx, *key, day, timezone)
    release_parked(tx)
    tx.outbox.append(WorkAvailable(payload=BUDGETS))
    return list_budgets(tx, caller, day, usd_per_day)


def _putting(insert: Any) -> Any:
    new = {name: insert.excluded[name] for name in ("usd", "tokens", "updated_at")}
    return insert.on_conflict_do_update(index_elements=["scope", "scope_id"], set_=new)


_PUT: dict[Dialect, Any] = {
    "sqlite": _putting(sqlite.insert(budgets)),
    "postgresql": _putting(postgresql.insert(budgets)),
}


def _checked(tx: Tx, wanted: Sequence[BudgetJson]) -> dict[tuple[BudgetScope, str], dict[str, Any]]:
    asked: dict[tuple[BudgetScope, str], dict[str, Any]] = {}
    for at, each in enumerate(wanted):
        path, scope, scope_id = f"budgets.{at}", each["scope"], each.get("id") or ""
        usd, tokens = each.get("usd"), each.get("tokens")
        if usd is None and tokens is None:
            raise Invalid("budget_without_limit", f"{path} needs usd or tokens.", {"path": path})
        if (scope, scope_id) in asked:
            raise Invalid("budget_twice", f"{path} repeats a budget of the list.", {"path": path})
        if scope == "gateway" and scope_id:
            raise Invalid("budget_of_gateway", "The budget of the gateway has no id.", {"path": f"{path}.id"})
        if scope_id and not _is_known(tx, scope, scope_id):
            raise Invalid("unknown_budget_id", f"There is no {scope} with the id {scope_id}.", {"path": f"{path}.id"})
        asked[scope, scope_id] = {"scope": scope, "scope_id": scope_id, "usd": usd, "tokens": tokens}
    return asked


def _is_known(tx: Tx, scope: BudgetScope, scope_id: str) -> bool:
    return tx.one(sa.select(_KNOWN[scope].where(sa.column("id") == scope_id).subquery().c.id)) is not None


def _count_past(tx: Tx, scope: BudgetScope, scope_id: str, day: str, timezone: str) -> None:
    """Only scopes with a budget are charged. The cost before that, of today or of a recent cause, comes from the runs,
    without the part that was charged already."""
    since = tx.now - _DAY if scope == "cause" else clock.start_of_day(day, timezone)
    key = _KEYS[scope].label("key")
    used = sa.select(
        key,
        sa.func.coalesce(sa.func.sum(runs.c.cost), 0.0).label("usd"),
        sa.cast(sa.func.sum(runs.c.input_tokens + runs.c.output_tokens), sa.BigInteger).label("tokens"),
    ).where(runs.c.id >= ids.first_at("run", since))
    if scope_id:
        used = used.where(_KEYS[scope] == scope_id)
    if scope != "gateway":
        used = used.where(_KEYS[scope].is_not(None)).group_by(key)
    charged_on = "" if scope == "cause" else day
    rows = [
        _past(tx, scope, row.key, charged_on, row.usd, row.tokens) for row in tx.all(used) if row.tokens is not None
    ]
    if rows:
        tx.execute(_SET_PAST[tx.dialect], rows)


def _past(tx: Tx, scope: BudgetScope, scope_id: str, day: str, usd: float, tokens: int) -> dict[str, Any]:
    charged = [row for row in _spent_rows(tx, scope, scope_id, day) if row.worker != _PAST]
    left: Charge = {
        "day": day,
        "scope": scope,
        "scope_id": scope_id,
        "worker": _PAST,
        "usd": max(0.0, usd - sum(row.usd for row in charged)),
        "tokens": max(0, tokens - sum(row.tokens for row in charged)),
    }
    return dict(left)


def _setting(insert: Any) -> Any:
    new = {"usd": insert.excluded.usd, "tokens": insert.excluded.tokens}
    return insert.on_conflict_do_update(index_elements=["day", "scope", "scope_id", "worker"], set_=new)


_SET_PAST: dict[Dialect, Any] = {
    "sqlite": _setting(sqlite.insert(spend)),
    "postgresql": _setting(postgresql.insert(spend)),
}


def _json(tx: Tx, row: sa.Row[Any], day: str) -> SpentBudgetJson:
    found = _spent_rows(tx, row.scope, row.scope_id, "" if row.scope == "cause" else day)
    usd, tokens = _most(found)
    optional = {"id": row.scope_id or None, "usd": row.usd, "tokens": row.tokens}
    shown = {name: value for name, value in optional.items() if value is not None}
    spent = {"spent": usd if row.usd is not None else tokens, "spentTokens": tokens}
    return cast(SpentBudgetJson, {"scope": row.scope, **shown, **spent})


def _spent_rows(tx: Tx, scope: BudgetScope, scope_id: str, day: str) -> Sequence[sa.Row[Any]]:
    """The spend of one id, or of all ids if `scope_id` is empty; of causes, only recent ones."""
    chosen = [spend.c.day == day, spend.c.scope == scope]
    if scope_id:
        chosen.append(spend.c.scope_id == scope_id)
    elif scope == "cause":
        chosen.append(spend.c.scope_id >= ids.first_at("cau", tx.now - _DAY))
    return tx.all(sa.select(spend).where(*chosen))


def _most(rows: Iterable[sa.Row[Any]]) -> tuple[float, int]:
    usd: dict[str, float] = {}
    tokens: dict[str, int] = {}
    for row in rows:
        usd[row.scope_id] = usd.get(row.scope_id, 0.0) + row.usd
        tokens[row.scope_id] = tokens.get(row.scope_id, 0) + row.tokens
    return max(usd.values(), default=0.0), max(tokens.values(), default=0)


def _require_admin(caller: Caller) -> None:
    if not caller.administers:
        raise Forbidden("not_allowed", "Only the owner and admins can see and set budgets.")
