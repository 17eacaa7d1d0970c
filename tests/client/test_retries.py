"""Calls that are safe to repeat are retried with back-off, for a limited time. No message is posted twice (M16)."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.client import MajlisClient, SyncMajlisClient
from majlis.client.transport import Retries, backoff
from majlis.client.wire import Call
from majlis.errors import Invalid, MajlisError, TooMany, Unavailable
from tests.client.proxy import Proxy
from tests.conditions import PATIENCE_SECONDS
from tests.world import World

READ: Call[object] = Call("GET", "/api/me", repeatable=True)
CHANGE: Call[object] = Call("POST", "/api/spaces")
LOST = Unavailable("connection_lost", "")
NEVER_SENT = Unavailable("unreachable", "")


async def test_a_post_whose_answer_was_lost_is_repeated_and_there_once(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    async with MajlisClient(proxy.url, world.owner.token) as client:
        proxy.answers_to_lose = 2
        said = await client.post(space, "hello")
    assert (await world.owner.history(space))["messages"] == [said]


async def test_a_post_is_repeated_while_the_server_says_503(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    async with MajlisClient(proxy.url, world.owner.token) as client:
        proxy.requests_to_refuse = 2
        said = await client.post(space, "hello")
    assert len(proxy.requests) == 3
    assert (await world.owner.history(space))["messages"] == [said]


async def test_a_post_waits_for_a_server_that_is_not_there_yet(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    await proxy.close()
    async with MajlisClient(proxy.url, world.owner.token) as client:
        posting = asyncio.create_task(client.post(space, "hello"))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await proxy.open()
            said = await posting
    assert (await world.owner.history(space))["messages"] == [said]


async def test_a_call_that_may_have_succeeded_is_not_repeated(world: World, proxy: Proxy) -> None:
    async with MajlisClient(proxy.url, world.owner.token) as client:
        proxy.answers_to_lose = 1
        with pytest.raises(Unavailable) as lost:
            await client.create_space("Lobby")
    assert lost.value.code == "connection_lost"
    assert len(await world.owner.ok("GET", "/api/spaces")) == 1


async def test_the_blocking_client_is_as_patient(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    with SyncMajlisClient(proxy.url, world.owner.token) as client:
        proxy.answers_to_lose = 1
        said = await asyncio.to_thread(client.post, space, "hello")
    assert (await world.owner.history(space))["messages"] == [said]


@pytest.mark.parametrize(
    ("call", "error", "repeated"),
    [
        (READ, LOST, True),
        (READ, NEVER_SENT, True),
        (READ, Unavailable("unavailable", ""), True),
        (READ, TooMany("rate_limited", "", 1), True),
        (READ, Invalid("invalid_request", ""), False),
        (READ, MajlisError("internal", ""), False),
        (CHANGE, LOST, False),
        (CHANGE, NEVER_SENT, True),
        (CHANGE, Unavailable("unavailable", ""), False),
        (CHANGE, TooMany("rate_limited", "", 1), True),
    ],
)
def test_only_what_is_safe_is_tried_again(call: Call[object], error: MajlisError, repeated: bool) -> None:
    assert (Retries(60).delay(call, error) is not None) == repeated


def test_patience_ends_and_the_servers_word_for_how_long_to_wait_is_kept() -> None:
    now = 0.0
    retries = Retries(10, clock=lambda: now)
    assert retries.delay(READ, TooMany("rate_limited", "", 4)) == 4
    assert retries.delay(READ, TooMany("rate_limited", "", 11)) is None
    now = 10.0
    assert retries.delay(READ, LOST) is None


@given(st.integers(min_value=0, max_value=10_000))
def test_waiting_grows_to_a_bound_and_is_never_quite_the_same(tries: int) -> None:
    waits = {backoff(tries) for _ in range(20)}
    assert len(waits) > 1
    assert all(0.05 <= wait <= 5 for wait in waits)
