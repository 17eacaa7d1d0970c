"""Column types and helpers for the tables."""

from __future__ import annotations

from typing import Any, LiteralString

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Collation C: the same order as in SQLite, and a faster index.
Key = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
Moment = sa.BigInteger()
Json = sa.JSON(none_as_null=True)


def word(text: LiteralString) -> sa.ColumnElement[str]:
    """A constant in a statement's text. With a bound parameter SQLite would not use a partial index, or would prepare
    the statement again at every execution."""
    return sa.literal_column(f"'{text}'", sa.String)


def words(*texts: LiteralString) -> list[sa.ColumnElement[str]]:
    return [word(text) for text in texts]


def key(name: str, *args: Any, **options: Any) -> sa.Column[str]:
    return sa.Column(name, Key, *args, **options)


def moment(name: str, **options: Any) -> sa.Column[int]:
    return sa.Column(name, Moment, **options)


def one_of(column: str, *values: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=column)


def index_where(name: str, *columns: sa.ColumnElement[Any], where: Any, unique: bool = False) -> sa.Index:
    """A partial index."""
    return sa.Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
