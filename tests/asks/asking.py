from __future__ import annotations

from typing import Any

from tests.world import Person

DECISION = {"kind": "choice", "question": "Ship it?", "options": ["yes", "no"]}


async def asked(asker: Person, space: str, **more: Any) -> Any:
    return await asker.ok("POST", "/api/asks", {"spaceId": space, **DECISION, **more})


async def give(person: Person, ask: Any, result: Any) -> Any:
    return await person.post(f"/api/asks/{ask['id']}/answers", {"result": result})


async def read(person: Person, ask: Any, **params: Any) -> Any:
    return await person.ok("GET", f"/api/asks/{ask['id']}", **params)


async def message_of(person: Person, ask: Any) -> Any:
    return await person.ok("GET", f"/api/messages/{ask['messageId']}")
