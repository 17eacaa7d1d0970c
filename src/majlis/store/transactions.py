"""What a transaction is here.

Domain code that touches the database is plain synchronous code over a `Tx`. On SQLite it runs in the writer's thread,
on PostgreSQL in a greenlet over asyncpg. Either way it cannot await, so no network call can stand between two
statements, and nothing can leave the process before the commit: what is to leave is put into `tx.outbox`.
A function given to `write` may run more than once (after a deadlock), so it acts through its `Tx` only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

import sqlalchemy as sa

from majlis import clock
from majlis.store.hot import Driver, run_hot

P = ParamSpec("P")
T = TypeVar("T")
Dialect = Literal["sqlite", "postgresql"]


class Hooks:
    """What a gateway adds to the transactions of its database.

    `left` is called with a space and an entity that has left it or has become a viewer: cards and waits that depend on
    it end. `max_chain_depth` is where chains of agents end (T5)."""

    def __init__(self) -> None:
        self.left: list[Callable[[Tx, str, str], None]] = []
        self.max_chain_depth = 5


class Tx:
    """One transaction: a connection, the moment it began, what hangs on it, and what leaves after its commit."""

    __slots__ = ("_driver", "conn", "hooks", "now", "outbox")

    def __init__(self, conn: sa.Connection, hooks: Hooks, driver: Driver) -> None:
        self.conn = conn
        # For statements marked `hot`.
        self._driver = driver
        self.hooks = hooks
        self.now = clock.now()
        self.outbox: list[object] = []

    @property
    def dialect(self) -> Dialect:
        return "sqlite" if self.conn.dialect.name == "sqlite" else "postgresql"

    def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]:
        result = run_hot(self.conn, self._driver, statement, parameters)
        return cast("sa.CursorResult[Any]", result) if result is not None else self.conn.execute(statement, parameters)

    def one(self, statement: sa.Executable, parameters: Any = None) -> sa.Row[Any] | None:
        return self.execute(statement, parameters).one_or_none()

    def all(self, statement: sa.Executable, parameters: Any = None) -> Sequence[sa.Row[Any]]:
        return self.execute(statement, parameters).all()


AfterCommit = Callable[[list[object]], None]


class Database(Protocol):
    """Both engines. `after_commit` is handed every outbox that is not empty, in commit order of this process."""

    dialect: Dialect
    engine: sa.Engine
    hooks: Hooks
    after_commit: AfterCommit

    async def write(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...

    def write_brief(
        self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """As `write`, for work of a few statements: an engine may do it at once, where it stands. The work has begun
        when this returns, and is done whether or not somebody waits for it."""
        ...

    async def read(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Each statement sees what is committed when it starts."""
        ...

    async def snapshot(self, work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """All statements see one moment."""
        ...

    async def changed_elsewhere(self) -> bool:
        """May another process have written since the last call? A cheap guess that errs towards yes."""
        ...

    async def close(self) -> None: ...


def keep_inside(outbox: list[object]) -> None:
    """The default for `after_commit`: nobody listens (command line, tests of the store)."""
