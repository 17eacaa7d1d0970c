"""Deletes runs, steps, deliveries and cycles after the days that `runs_kept_days`, `steps_kept_days`,
`deliveries_kept_days` and `cycles_kept_days` in settings.py say. Without a setting they are kept.

Once an hour one node reads page after page and deletes what is old enough, a page per transaction, so that no lock is
held for long. A pass that is interrupted is continued by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.settings import Settings
from majlis.store import ids
from majlis.store.tables import cards, cycles, deliveries, gateway, pasts, runs, steps, views, wait_answers
from majlis.store.transactions import Database, Tx

_LEASE = "retention_lease"
_SWEEP_LEASE_MILLIS = 3_600_000
_DAY_MILLIS = 24 * 3_600_000
_PAGE = 200
# A delivery in one of these states may still start a run, which is shown what the earlier ones did.
_OPEN = ("pending", "taken", "parked")
Keys = list[Any]
Page = tuple[Keys, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """`find` reads a page after a place: the keys to delete, and the place of the next page, None at the end."""

    find: Callable[[Tx, Any, int], Page]
    delete: Callable[[Tx, Keys], None]
    kept_days: int | None


async def delete_old(db: Database, settings: Settings) -> int:
    """The number of deleted runs, journals, deliveries and cycles. 0 if another node has done it within an hour."""
    rules = [rule for rule in _rules(settings) if rule.kept_days is not None]
    if not rules or not await db.write(_take_lease):
        return 0
    return sum([await _apply(db, rule) for rule in rules])


def _rules(settings: Settings) -> tuple[Rule, ...]:
    """The order matters: a run is deleted after everything that refers to it."""
    return (
        Rule(_find_cycles, _delete_cycles, settings.cycles_kept_days),
        Rule(_find_deliveries, _delete_deliveries, _shorter(settings.deliveries_kept_days, settings.runs_kept_days)),
        Rule(_find_steps, _delete_steps, _shorter(settings.steps_kept_days, settings.runs_kept_days)),
        Rule(_find_runs, _delete_runs, settings.runs_kept_days),
    )


def _shorter(days: int | None, other: int | None) -> int | None:
    return min((each for each in (days, other) if each is not None), default=None)


async def _apply(db: Database, rule: Rule) -> int:
    kept_millis = (rule.kept_days or 0) * _DAY_MILLIS
    deleted, place = 0, None
    while True:
        keys, place = await db.read(_find, rule, place, kept_millis)
        if keys:
            await db.write(rule.delete, keys)
            deleted += len(keys)
        if place is None:
            return deleted


def _find(tx: Tx, rule: Rule, after: Any, kept_millis: int) -> Page:
    return rule.find(tx, after, tx.now - kept_millis)


def _take_lease(tx: Tx) -> bool:
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(gateway)
    tx.execute(insert.on_conflict_do_nothing(), {"key": _LEASE, "value": "0"})
    row = gateway.c.key == _LEASE
    until = tx.execute(sa.select(gateway.c.value).where(row).with_for_update()).scalar_one()
    if int(until) > tx.now:
        return False
    tx.execute(gateway.update().where(row).values(value=str(tx.now + _SWEEP_LEASE_MILLIS)))
    return True


def _find_cycles(tx: Tx, after: tuple[int, str] | None, before: int) -> Page:
    """Only cycles that the agent is shown by their summaries, which stay."""
    at, run = after or (0, "")
    place = sa.tuple_(cycles.c.created_at, cycles.c.run_id)
    rows = tx.all(
        sa.select(cycles.c.agent_id, cycles.c.n, cycles.c.created_at, cycles.c.run_id)
        .join(pasts, pasts.c.agent_id == cycles.c.agent_id)
        .where(place > sa.tuple_(sa.literal(at, sa.BigInteger), sa.literal(run)))
        .where(cycles.c.created_at < before, cycles.c.n <= pasts.c.through)
        .order_by(cycles.c.created_at, cycles.c.run_id)
        .limit(_PAGE)
    )
    return [(row.agent_id, row.n) for row in rows], _next([(row.created_at, row.run_id) for row in rows])


def _delete_cycles(tx: Tx, keys: Keys) -> None:
    tx.execute(cycles.delete().where(sa.tuple_(cycles.c.agent_id, cycles.c.n).in_(keys)))


def _find_deliveries(tx: Tx, after: str | None, before: int) -> Page:
    columns = deliveries.c.id, deliveries.c.state
    old = deliveries.c.id > (after or ""), deliveries.c.id < ids.first_at("dlv", before)
    rows = tx.all(sa.select(*columns).where(*old).order_by(deliveries.c.id).limit(_PAGE))
    return [row.id for row in rows if row.state not in _OPEN], _next([row.id for row in rows])


def _delete_deliveries(tx: Tx, keys: Keys) -> None:
    tx.execute(deliveries.delete().where(deliveries.c.id.in_(keys), deliveries.c.state.not_in(_OPEN)))


def _find_steps(tx: Tx, after: str | None, before: int) -> Page:
    old = steps.c.run_id > (after or ""), steps.c.run_id < ids.first_at("run", before)
    found = tx.all(sa.select(steps.c.run_id).where(*old).distinct().order_by(steps.c.run_id).limit(_PAGE))
    page = [row.run_id for row in found]
    return _ended(tx, page, before), _next(page)


def _delete_steps(tx: Tx, keys: Keys) -> None:
    tx.execute(steps.delete().where(steps.c.run_id.in_(keys)))


def _find_runs(tx: Tx, after: str | None, before: int) -> Page:
    """A run that a card or a cycle refers to stays, without its steps."""
    old = runs.c.id > (after or ""), runs.c.id < ids.first_at("run", before)
    page = [row.id for row in tx.all(sa.select(runs.c.id).where(*old).order_by(runs.c.id).limit(_PAGE))]
    ended = _ended(tx, page, before)
    referred: set[str] = set()
    for column in (cards.c.run_id, cycles.c.run_id, deliveries.c.run_id):
        referred |= _among(tx, column, ended)
    return [run for run in ended if run not in referred], _next(page)


def _delete_runs(tx: Tx, keys: Keys) -> None:
    for table in (views, steps, wait_answers):
        tx.execute(table.delete().where(table.c.run_id.in_(keys)))
    tx.execute(runs.delete().where(runs.c.id.in_(keys)))


def _ended(tx: Tx, page: Sequence[str], before: int) -> list[str]:
    """Runs whose events are settled too: a later try of the same event is shown what the earlier one did."""
    if not page:
        return []
    found = tx.all(sa.select(runs.c.id).where(runs.c.id.in_(page), runs.c.ended_at < before))
    again = _among(tx, deliveries.c.run_id, page, deliveries.c.state.in_(_OPEN))
    return sorted({row.id for row in found} - again)


def _among(tx: Tx, column: sa.ColumnElement[Any], page: Sequence[str], *more: sa.ColumnElement[bool]) -> set[str]:
    return set(tx.execute(sa.select(column).where(column.in_(page), *more)).scalars()) if page else set()


def _next(page: Sequence[Any]) -> Any:
    return page[-1] if len(page) == _PAGE else None
