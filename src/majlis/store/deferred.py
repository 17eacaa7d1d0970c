"""Writes of one transaction that are sent to PostgreSQL together, as one statement.

A round trip costs more than most statements. So a write whose only result is that it has changed its row waits for the
next ones, until a statement of the transaction may depend on it, or the commit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from majlis.store.hot import Driver, Prepared

# Rows that one statement writes at most. The driver pipelines more rows of one statement by itself.
_MOST = 12
_PARAMETER = re.compile(r"\$(\d+)")


class OneByOne(BaseException):
    """A deferred write did not do what its transaction relied on. The work has to run again without deferring, so that
    the write itself reports the problem. Not an `Exception`, so that no handler in the work catches it."""


class Deferred:
    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        # With the values of each row as they were when it was added.
        self._writes: list[tuple[Prepared, list[Sequence[Any]], bool]] = []
        self._tables: set[str] = set()
        self._rows = 0

    def add(self, prepared: Prepared, parameters: Any, checked: bool) -> bool:
        """False if the write has to run at once."""
        rows = parameters if isinstance(parameters, list) else [parameters]
        if len(rows) > _MOST or prepared.target is None or prepared.has_rows:
            return False
        # The parts of one statement do not see each other's rows.
        if self._rows + len(rows) > _MOST or prepared.target in self._tables:
            self.flush()
        self._writes.append((prepared, [prepared.bound(row) for row in rows], checked))
        self._tables.add(prepared.target)
        self._rows += len(rows)
        return True

    def concerns(self, prepared: Prepared | None) -> bool:
        """True for a statement that may depend on these writes: for any but a read of other tables."""
        return bool(self._writes) and (
            prepared is None or not prepared.is_select or not self._tables.isdisjoint(prepared.tables)
        )

    def flush(self) -> None:
        writes, self._writes, self._rows = self._writes, [], 0
        self._tables.clear()
        if not writes:
            return
        text = _together(tuple(prepared.text for prepared, rows, _ in writes for _ in rows))
        given = [value for _, rows, _ in writes for row in rows for value in row]
        try:
            [counts], _ = self._driver.run(text, [given], True)
        except sa.exc.IntegrityError as error:
            raise OneByOne from error
        left = iter(counts)
        for _, rows, checked in writes:
            changed = sum(next(left) for _ in rows)
            if checked and changed == 0:
                raise OneByOne


@lru_cache(maxsize=512)
def _together(texts: tuple[str, ...]) -> str:
    """One statement that runs them in this order and returns how many rows each has changed."""
    parts: list[str] = []
    used = 0
    for n, text in enumerate(texts):
        parts.append(f"w{n} AS ({_renumbered(text, used)} RETURNING 1)")
        used += max((int(number) for number in _PARAMETER.findall(text)), default=0)
    counts = ", ".join(f"(SELECT count(*) FROM w{n})" for n in range(len(texts)))
    return f"WITH {', '.join(parts)} SELECT {counts}"


def _renumbered(text: str, used: int) -> str:
    return _PARAMETER.sub(lambda found: f"${int(found[1]) + used}", text)
