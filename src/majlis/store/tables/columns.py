"""Column types and helpers for the tables."""

from __future__ import annotations

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


class _Texts(sa.types.TypeDecorator[list[str]]):
    """A list of texts as one parameter."""

    impl = sa.JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        return postgresql.ARRAY(sa.Text) if dialect.name == "postgresql" else sa.Text()

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return list(value) if dialect.name == "postgresql" else orjson.dumps(list(value)).decode()


class _Among(FunctionElement[bool]):
    type = sa.Boolean()
    inherit_cache = True


def among(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """True if the column is one of the texts in a parameter. Unlike `in_`, the statement can be hot: its text does not
    depend on the length of the list."""
    return _Among(column, sa.bindparam(name, type_=_Texts()))


@compiles(_Among, "postgresql")
def _any(element: _Among, compiler: Any, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} = ANY ({texts})"


@compiles(_Among, "sqlite")
def _in_json(element: _Among, compiler: Any, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({texts}))"


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
