"""Loaded state = old state + events, for every event type, for random actions and reconnects."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import itertools
import random
from typing import Any

import pytest

from majlis.client.follow import Event as ClientEvent
from majlis.client.state import ClientState
from majlis.settings import Settings
from tests.follower import Event, Follower
from tests.world import Person, World, serve_world

STEPS = 120
EVERY_TYPE = {
    "space.message",
    "message.reactions",
    "space.read",
    "space.member.joined",
    "space.member.left",
    "space.member.updated",
    "space.updated",
}


class Client:
    """A person's app: one stream over all spaces, and a state that only events change. With every connection it moves
    to the next node."""

    def __init__(self, *at_nodes: Person) -> None:
        self._at_nodes = itertools.cycle(at_nodes)
        self.person = at_nodes[0]
        self.state = ClientState(self.person.id)
        self.stream: Follower | None = None
        self.types: set[str] = set()
        self.applied: list[Event] = []

    async def connect(self) -> None:
        """Subscribes first, then loads: an event in between is in both and must count once."""
        first = self.stream is None
        self.person = next(self._at_nodes)
        self.stream = self.person.follow(last_id=self.stream.last_id if self.stream else None)
        await self.stream.__aenter__()
        assert (await self.stream.next()).type == "connected"
        if first:
            await self.load()

    async def load(self) -> None:
        self.state = await fresh(self.person)

    async def disconnect(self) -> None:
        assert self.stream is not None
        await self.stream.__aexit__(None, None, None)

    async def follow_until_equal(self) -> None:
        """With no other activity, events still to come must remove every difference."""
        assert self.stream is not None
        truth = await fresh(self.person)
        while True:
            await self._fetch_joined()
            if comparable(self.state) == comparable(truth):
                return
            try:
                event = await self.stream.next()
            except TimeoutError:
                raise AssertionError(difference(self.state, truth)) from None
            assert event.type != "resync"
            self.types.add(event.type)
            self.applied.append(event)
            self.state.apply(as_client(event))

    async def _fetch_joined(self) -> None:
        for space_id in list(self.state.to_fetch):
            answer = await self.person.get(f"/api/spaces/{space_id}")
            if answer.status_code == 404:
                self.state.to_fetch.discard(space_id)  # has left again; the event will follow
                continue
            self.state.load_space(answer.json(), (await self.person.history(space_id, limit=200))["messages"])


def comparable(state: ClientState) -> ClientState:
    """Without the names of former members: only the spaces of an entity learn of its new name (docs/live.md)."""
    state = copy.deepcopy(state)
    for space in state.spaces.values():
        for message in [*(space.messages or {}).values(), *([space.last_message] if space.last_message else [])]:
            if message["sender"]["id"] not in space.members:
                message["sender"]["name"] = "somebody who has left"
    return state


def difference(known: ClientState, truth: ClientState) -> str:
    """The differences, as text."""
    lines = [f"spaces {sorted(known.spaces)} / {sorted(truth.spaces)}, to fetch {known.to_fetch}"]
    for space_id in known.spaces.keys() & truth.spaces.keys():
        for field in dataclasses.fields(truth.spaces[space_id]):
            ours = getattr(known.spaces[space_id], field.name)
            theirs = getattr(truth.spaces[space_id], field.name)
            if ours != theirs:
                lines.append(f"{space_id}.{field.name}: knows {ours}, is {theirs}")
    return "\n".join(lines)


async def fresh(person: Person) -> ClientState:
    state = ClientState(person.id)
    spaces = await person.ok("GET", "/api/spaces")
    histories = {space["id"]: (await person.history(space["id"], limit=200))["messages"] for space in spaces}
    state.load(spaces, histories)
    return state


def as_client(event: Event) -> ClientEvent:
    return ClientEvent(id=event.id, type=event.type, data=event.data)


@pytest.mark.parametrize("seed", [1, 2])
async def test_fresh_state_equals_old_state_plus_events(world: World, seed: int) -> None:
    people = [world.owner, await world.person("Sara"), await world.person("Ahmad")]
    await stay_the_same(world, random.Random(seed), people, [Client(person) for person in people])


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_fresh_state_equals_old_state_plus_events_of_two_nodes(settings: Settings, nats_url: str) -> None:
    """People act on one node and follow on the other; every reconnection leads to the other one."""
    settings = settings.model_copy(update={"bus_url": nats_url})
    async with serve_world(settings) as one, serve_world(settings) as two:
        people = [one.owner, await one.person("Sara"), await one.person("Ahmad")]
        elsewhere = [await two.same(person) for person in people]
        clients = [Client(*pair) for pair in zip(people, elsewhere, strict=True)]
        acting = [people[0], elsewhere[1], elsewhere[2]]
        await stay_the_same(one, random.Random(3), acting, clients)


async def stay_the_same(world: World, chance: random.Random, people: list[Person], clients: list[Client]) -> None:
    spaces = [await world.owner.create_space(f"Space {n}", *people[1:]) for n in range(2)]
    for client in clients:
        await client.connect()
    for step in range(STEPS):
        await asyncio.gather(*(act(world, chance, people, spaces, step * 2 + n) for n in range(2)))
        if chance.random() < 0.08:
            client = chance.choice(clients)
            await client.disconnect()
            await act(world, chance, people, spaces, 10_000 + step)
            await client.connect()
        if step % 20 == 19:
            for client in clients:
                await client.follow_until_equal()
    for client in clients:
        await client.follow_until_equal()
        before = await fresh(client.person)
        for event in client.applied[-30:]:
            if event.type in ("space.message", "message.reactions", "space.read"):
                client.state.apply(as_client(event))
        assert comparable(client.state) == comparable(before), "applying what is known already changes nothing"
        await client.disconnect()
    assert set().union(*(client.types for client in clients)) == EVERY_TYPE


async def act(world: World, chance: random.Random, people: list[Person], spaces: list[str], step: int) -> None:
    """One random action. If it is refused, nothing changed and no event may be sent."""
    person, space = chance.choice(people), chance.choice(spaces)
    other = chance.choice(people)
    kind = chance.choices(
        ["say", "change", "read", "join", "leave", "role", "rename", "describe", "phase", "create", "delete"],
        [30, 30, 15, 10, 6, 5, 3, 4, 4, 3, 1],
    )[0]
    owner = world.owner
    if kind == "say":
        await person.post(f"/api/spaces/{space}/messages", {"text": f"step {step}", "clientId": f"c{step % 7}-{step}"})
    elif kind in ("read", "change"):
        page: Any = (await person.get(f"/api/spaces/{space}/messages", limit=10)).json()
        if page.get("messages"):
            one = chance.choice(page["messages"])["id"]
            if kind == "change":
                await change(person, chance, space, one, step)
            else:
                await person.post(f"/api/spaces/{space}/read", {"lastMessageId": one})
    elif kind == "join":
        await owner.post(f"/api/spaces/{space}/members", {"entityId": other.id})
    elif kind == "leave" and other is not owner:
        await owner.delete(f"/api/spaces/{space}/members/{other.id}")
    elif kind == "role" and other is not owner:
        role = chance.choice(["member", "viewer", "admin"])
        await owner.post(f"/api/spaces/{space}/members", {"entityId": other.id, "role": role})
    elif kind == "rename" and other is not owner:
        await owner.patch(f"/api/entities/{other.id}", {"name": f"Name {step}"})
    elif kind == "describe":
        await owner.patch(f"/api/spaces/{space}", {"description": f"step {step}"})
    elif kind == "phase":
        await person.post(f"/api/spaces/{space}/phase", {"phase": f"phase {step}", "summary": "so far"})
    elif kind == "create" and len(spaces) < 6:
        spaces.append(await owner.create_space(f"Space {step}", other) if other is not owner else spaces[0])
    elif kind == "delete" and len(spaces) > 3:
        await owner.delete(f"/api/spaces/{spaces.pop()}")


async def change(person: Person, chance: random.Random, space: str, message: str, step: int) -> None:
    """A change of a message (L1-L4, L9). Most are refused to all but the author."""
    kind = chance.choice(["edit", "edit", "erase", "react", "unreact", "pin", "unpin", "file"])
    path = f"/api/messages/{message}"
    if kind == "edit":
        await person.patch(path, {"text": f"edited {step}"})
    elif kind == "erase":
        await person.delete(path)
    elif kind in ("react", "unreact"):
        method = "PUT" if kind == "react" else "DELETE"
        await person.http.request(method, f"{path}/reactions/{chance.choice('👍🎉')}")
    elif kind in ("pin", "unpin"):
        await person.http.request("PUT" if kind == "pin" else "DELETE", f"{path}/pin")
    else:
        uploaded = await person.post_file(space, f"step {step}".encode())
        files = [uploaded.json()["id"]] if uploaded.is_success else []
        await person.post(f"/api/spaces/{space}/messages", {"text": "", "files": files})
