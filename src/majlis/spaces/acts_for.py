"""Limits what a run of an agent may see: to its asker's rights, or only to its own (G3, G4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from majlis import clock
from majlis.store.tables import agents, members, runs, tokens
from majlis.store.tables.columns import word

ActsFor = Literal["asker", "itself"]

_person = members.alias("person")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The person whose rights bound a run, empty if none is known, and the spaces that its events came from."""

    person: str
    asked_in: Collection[str] = ()


def has_token(now: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """The agent has a live API token: a program acts as it, so it acts for itself."""
    live = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now)
    return sa.exists().where(
        tokens.c.entity_id == agents.c.id, tokens.c.kind == word("api"), tokens.c.ended_at.is_(None), live
    )


# Null for people and services. A config of an earlier version has no `actsFor`.
ACTS_FOR: sa.ColumnElement[Any] = sa.case(
    (agents.c.id.is_(None), None),
    (agents.c.config["mind"].as_string().in_(("consciousness", "outside")), "itself"),
    (has_token(sa.bindparam("token_now", callable_=clock.now, type_=sa.BigInteger)), "itself"),
    else_=sa.func.coalesce(agents.c.config["actsFor"].as_string(), "asker"),
)


def spaces_of(person: Any) -> sa.Select[tuple[str]]:
    return sa.select(_person.c.space_id).where(_person.c.entity_id == person)


def run_of_person(person: Any) -> sa.ColumnElement[bool]:
    """Runs of spaces that the person is in, and the person's runs outside spaces."""
    outside = sa.and_(runs.c.trigger_space_id.is_(None), runs.c.person_id == person)
    return sa.or_(runs.c.trigger_space_id.in_(spaces_of(person)), outside)
