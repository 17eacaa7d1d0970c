"""Transactions.

Domain code that uses the database is synchronous code over a `Tx`. On SQLite it runs in the writer's thread, on
PostgreSQL in a greenlet over psycopg. It cannot await, so it makes no network call between two statements. Whatever
must leave the process goes into `tx.outbox` and is sent after the commit. A function given to `write` may run more than
once (after a deadlock), so it must have no side effects beside its `Tx`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

import sqlalchemy as sa

from majlis import clock
from majlis.store.hot import Driver, Prepared, prepare

P = ParamSpec("P")
T = TypeVar("T")
Dialect = Literal["sqlite", "postgresql"]


@dataclass(slots=True)
class Hooks:
    """The hooks a gateway adds to the transactions of its database.

    `left` is called with a space and an entity that has left it or has become a viewer: cards and waits that depend on
    it end. `replied` is called for a reply to the message of a tool, and `deleted` for a message that is being
    deleted: either may change an ask. `max_chain_depth` is where chains of agents end (T5);
    `max_runs_per_cause` how many runs agents' messages may start for one cause (E4);
    `max_spaces_per_member` how many spaces a member may administer (G10);
    `file_bytes_…` how many bytes of files a member and a space may have (G10);
    `plans_…` how many times a day plans of an agent may fire (G8)."""

    left: list[Callable[[Tx, str, str], None]] = field(default_factory=list)
    replied: list[Callable[[Tx, Any, Any], None]] = field(default_factory=list)
    deleted: list[Callable[[Tx, sa.Row[Any]], None]] = field(default_factory=list)
    max_chain_depth: int = 5
    max_spaces_per_member: int = 500
    plans_shortest_millis: int = 60_000
    plans_per_day: int = 2000
    max_runs_per_cause: int = 200
    file_bytes_per_member: int = 5 * 1024**3
    file_bytes_per_space: int = 20 * 1024**3

    def depth_limit(self, of_space: int | None) -> int:
        """A space may end chains earlier than the gateway (E11)."""
        return min(of_space or self.max_chain_depth, self.max_chain_depth)


@dataclass(slots=True, eq=False)
class Tx:
    """One transaction: its connection, its start time, and what is sent after its commit."""

    _conn: sa.Connection
    hooks: Hooks
    # None in migrations.
    driver: Driver | None
    now: int = field(default_factory=lambda: clock.now())
    outbox: list[object] = field(default_factory=list)
    # Parts of the outbox that depend on results which arrive later, and where they belong.
    _unfinished: list[tuple[int, Callable[[], Sequence[object]]]] = field(default_factory=list)
    # The span that it is part of, for the runs that it causes (D7).
    trace: str | None = None

    @property
    def conn(self) -> sa.Connection:
        if self.driver is not None:
            self.driver.give_way()
        return self._conn

    @property
    def dialect(self) -> Dialect:
        return "sqlite" if self._conn.dialect.name == "sqlite" else "postgresql"

    def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]:
        driver = self.driver
        prepared = prepare(self._conn, statement, parameters) if driver is not None else None
        if driver is None or prepared is None:
            return self.conn.execute(statement, parameters)
        return cast("sa.CursorResult[Any]", driver.run(prepared, _bound(prepared, parameters)))

    def later(self, statement: sa.Executable, parameters: Any, checked: bool = False) -> bool:
        """Writes now, or on PostgreSQL in the round trip of the next statement that is not written later, or of the
        commit. With `checked` it is False if no row was changed. If that, or a broken constraint, turns out only later,
        the work runs again from its beginning, and there each statement at once."""
        driver = self.driver
        prepared = prepare(self._conn, statement, parameters) if driver is not None else None
        if driver is None or prepared is None:
            return self.execute(statement, parameters).rowcount != 0
        return driver.later(prepared, _bound(prepared, parameters), checked)

    def ask(self, statement: sa.Executable, parameters: dict[str, Any]) -> sa.CursorResult[Any]:
        """Reads when its rows are looked at, or on PostgreSQL in the round trip of the next statement. Reads that do
        not depend on each other are asked first, and then looked at."""
        driver = self.driver
        prepared = prepare(self._conn, statement, parameters) if driver is not None else None
        if driver is None or prepared is None:
            return self.execute(statement, parameters)
        return cast("sa.CursorResult[Any]", driver.ask(prepared, prepared.bound(parameters)))

    @contextmanager
    def savepoint(self) -> Iterator[sa.NestedTransaction]:
        """What waits is sent before the savepoint begins and before it ends, so that it is rolled back with its own."""
        with self.conn.begin_nested() as nested:
            try:
                yield nested
            finally:
                if self.driver is not None:
                    self.driver.give_way()

    def send(self, items: Callable[[], Sequence[object]]) -> None:
        """Adds to the outbox what is known only after the commit, when everything asked for has arrived."""
        self._unfinished.append((len(self.outbox), items))

    def leaving(self) -> list[object]:
        """The outbox, after the commit."""
        while self._unfinished:
            place, items = self._unfinished.pop()
            self.outbox[place:place] = items()
        return self.outbox

    def one(self, statement: sa.Executable, parameters: Any = None) -> sa.Row[Any] | None:
        return self.execute(statement, parameters).one_or_none()

    def all(self, statement: sa.Executable, parameters: Any = None) -> Sequence[sa.Row[Any]]:
        return self.execute(statement, parameters).all()


def _bound(prepared: Prepared, parameters: Any) -> list[Sequence[Any]]:
    if isinstance(parameters, list):
        return [prepared.bound(each) for each in parameters]
    return [prepared.bound(parameters or {})]


AfterCommit = Callable[[list[object]], None]


class Database(Protocol):
    """`after_commit` gets every outbox that is not empty, in the order of this process's commits."""

    dialect: Dialect
    engine: sa.Engine
    hooks: Hooks
    after_commit: AfterCommit

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Like `write`, for work of a few statements, which SQLite may run in the event loop. The work is submitted
        when this returns, and is done even if its future is never awaited."""
        ...

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Each statement sees what was committed when it started."""
        ...

    async def snapshot(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """All statements see the same snapshot."""
        ...

    async def alter(self, work: Callable[[Tx], T]) -> T:
        """Runs migrations, on one node at a time. On SQLite this is a transaction. On PostgreSQL the work begins and
        commits its own transactions, and can run again where it has not committed."""
        ...

    async def changed_elsewhere(self) -> bool:
        """True if another process may have written since the last call. Cheap; False is certain, True is not."""
        ...

    async def server_time(self) -> int:
        """The time of the database's own clock. On SQLite that is this machine's."""
        ...

    async def close(self) -> None: ...


def keep_inside(outbox: list[object]) -> None:
    """The default for `after_commit`: sends nothing."""
