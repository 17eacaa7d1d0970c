"""Agents made without HTTP."""

from __future__ import annotations

from typing import Any

from majlis.agents.agents import create_agent
from majlis.entities.caller import Caller
from majlis.store.transactions import Database

OWNER = Caller("ent_none", "Owner", "human", "owner", "tok_none")


async def new_agent(db: Database, name: str = "Writer", **config: Any) -> str:
    return (await create_agent(db, OWNER, name, config))["id"]
