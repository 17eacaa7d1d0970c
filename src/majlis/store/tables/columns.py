"""Column kinds used all over the model, so that each means the same everywhere."""

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

# Ids and keys compare byte by byte: the same order on both databases, and the cheaper index on PostgreSQL.
Key = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
Moment = sa.BigInteger()
Json = sa.JSON(none_as_null=True)


def word(text: LiteralString) -> sa.ColumnElement[str]:
    """A constant of ours in a statement's text. As a bound parameter it would keep SQLite from using a partial index,
    or make it prepare the statement anew at every execution to find out."""
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
    """An index of some rows only, on both engines."""
    return sa.Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
