"""Column types and helpers for the tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, LiteralString

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

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


def among(column: sa.ColumnElement[str], name: str) -> sa.ColumnElement[bool]:
    """True if the parameter `name`, a list of texts, has the value. Unlike with `IN (…)`, the statement's text does not
    depend on the length of the list: it can be hot, and is prepared once."""
    return _Among(column, sa.bindparam(name, type_=_Texts()))


def not_among(column: sa.ColumnElement[str], name: str) -> sa.ColumnElement[bool]:
    return _NotAmong(column, sa.bindparam(name, type_=_Texts()))


class _Texts(sa.types.TypeDecorator[Collection[str]]):
    """A list of texts as one parameter: an array, or JSON on SQLite."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        return dialect.type_descriptor(postgresql.ARRAY(sa.Text()) if dialect.name == "postgresql" else sa.Text())

    def process_bind_param(self, value: Collection[str] | None, dialect: sa.Dialect) -> Any:
        texts = list(value or ())
        return texts if dialect.name == "postgresql" else orjson.dumps(texts).decode()


class _Among(FunctionElement[bool]):
    name = "among"
    type = sa.Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:
        """Without `= 1`, which SQLAlchemy adds on SQLite and which would prevent the use of an index."""
        return self


class _NotAmong(_Among):
    name = "not_among"
    inherit_cache = True


@compiles(_Among, "sqlite")
def _among_in_sqlite(element: _Among, compiler: Any, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} {'NOT ' if isinstance(element, _NotAmong) else ''}IN (SELECT value FROM json_each({texts}))"


@compiles(_Among, "postgresql")
def _among_in_postgresql(element: _Among, compiler: Any, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} <> ALL ({texts})" if isinstance(element, _NotAmong) else f"{column} = ANY ({texts})"


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
