"""Shares compiled statements in a process. SQLAlchemy caches them for each engine, and every test has its own engine:
compiling them again took a tenth of all tests' time."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

_SIZE = 5000


class Shared(LRUCache[Any, Any]):
    """A statement's key starts with its engine's dialect object; here, with its class."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_of_kind(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_of_kind(key), value)


_SHARED = Shared(_SIZE)


def share_statement_cache() -> None:
    sa.Engine._compiled_cache = property(lambda _: _SHARED, lambda _, __: None)  # type: ignore[assignment]


def _of_kind(key: tuple[sa.Dialect, ...]) -> tuple[object, ...]:
    dialect, *statement = key
    return type(dialect), *statement
