"""Creates the Lobby of a new gateway: a space with two demo agents that need no API key.

It is created once, if there are no spaces and no agents yet. `demo = false` turns it off.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.agents.agents import add_agent
from majlis.agents.config.config import dump_config, parse_config
from majlis.entities.caller import Caller
from majlis.inbox.services import trigger_agent
from majlis.models.demo.rules import ASKING
from majlis.spaces.members import join
from majlis.spaces.spaces import create_space
from majlis.store.tables import agents, gateway, spaces
from majlis.store.transactions import Dialect, Tx

HOST, GUEST = "Nadim", "Rawi"
_INSTRUCTIONS = {
    HOST: "You are Nadim, the companion: you welcome people, and keep their reminders.",
    GUEST: "You are Rawi, who tells stories: you listen, and add a word when it helps.",
}
_ASKING = {
    "name": ASKING,
    "description": "Ask the people here before you do something that they may not want.",
    "type": "space",
    "ui": "approval",
}
_MARK: dict[Dialect, sa.Executable] = {
    "sqlite": sqlite.insert(gateway).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(gateway).on_conflict_do_nothing(),
}


def create_lobby(tx: Tx, owner: Caller) -> str | None:
    """The Lobby's id, if this call created it. If two nodes start together, one of them creates it."""
    if tx.execute(_MARK[tx.dialect], {"key": "furnished", "value": "yes"}).rowcount == 0:
        return None
    if tx.execute(sa.select(sa.or_(sa.exists(sa.select(spaces.c.id)), sa.exists(sa.select(agents.c.id))))).scalar_one():
        return None
    lobby = create_space(tx, owner, "Lobby", "A place to start. Say hello, or ask for help.")
    made = {}
    for name in (HOST, GUEST):
        config = parse_config({"instructions": _INSTRUCTIONS[name], "tools": [_ASKING] if name == HOST else []})
        made[name] = add_agent(tx, name, dump_config(config))["id"]
        join(tx, lobby["id"], made[name], "member")
    trigger_agent(tx, owner, made[HOST], "majlis", {"event": "opened", "spaceId": lobby["id"]}, "opened")
    return lobby["id"]
