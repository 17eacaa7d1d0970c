"""Failures are raised as `majlis.errors`, with the server's code, message and details."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from majlis.client import MajlisClient
from majlis.client.transport import refusal
from majlis.errors import (
    ConfigurationError,
    Conflict,
    Forbidden,
    Invalid,
    MajlisError,
    Malformed,
    NotFound,
    TooLarge,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from majlis.settings import Settings
from tests.ports import free_port
from tests.world import World, serve_world


async def test_a_refusal_keeps_code_message_and_details(client: MajlisClient) -> None:
    with pytest.raises(Conflict) as refused:
        await client.create_entity("human", "owner")
    error = refused.value
    assert (error.status, error.code, error.details) == (409, "name_taken", {"path": "name"})
    assert error.message == str(error)
    assert error.message.startswith('The name "owner" is taken (ignoring case and width), or looks like one that is.')


async def test_an_oversized_body_and_invalid_text_are_refused(client: MajlisClient) -> None:
    space = (await client.create_space("Lobby"))["id"]
    with pytest.raises(TooLarge):
        await client.post(space, "x" * 2_000_000)
    with pytest.raises(Invalid, match="valid Unicode"):
        await client.post(space, "half a character: \ud83d")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Malformed),
        (401, Unauthenticated),
        (403, Forbidden),
        (404, NotFound),
        (405, MajlisError),
        (409, Conflict),
        (413, TooLarge),
        (422, Invalid),
        (429, TooMany),
        (500, MajlisError),
        (502, Unavailable),
        (503, Unavailable),
    ],
)
def test_every_status_has_its_exception(status: int, kind: type[MajlisError]) -> None:
    body = {"error": {"code": "c", "message": "m", "details": {"path": "p"}}}
    request = httpx.Request("GET", "http://majlis.test/api/me")
    told = refusal(httpx.Response(status, json=body, headers={"Retry-After": "7"}, request=request))
    assert (type(told), told.status, told.code, told.message) == (kind, status, "c", "m")
    assert told.details["path"] == "p"
    if isinstance(told, TooMany):
        assert told.retry_after == 7
    silent = refusal(httpx.Response(status, text="<html>", request=request))
    assert (silent.status, silent.code) == (status, "unexpected_answer")


async def test_too_many_requests_say_when_to_come_back(settings: Settings) -> None:
    strict = settings.model_copy(update={"requests_per_second": 1, "requests_burst": 2})
    async with (
        serve_world(strict) as world,
        MajlisClient(world.base_url, world.owner.token, patience_seconds=0) as hasty,
        MajlisClient(world.base_url, world.owner.token) as patient,
    ):
        with pytest.raises(TooMany) as refused:
            await asyncio.gather(*(hasty.me() for _ in range(4)))
        assert refused.value.retry_after >= 1
        assert refused.value.details == {"retryAfterSeconds": refused.value.retry_after}
        assert (await patient.me())["name"] == "Owner"


async def test_no_server_and_another_server_are_different_errors(world: World) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    async with MajlisClient(nowhere, patience_seconds=0) as client:
        with pytest.raises(Unavailable) as refused:
            await client.health()
    assert (refused.value.code, nowhere in refused.value.message) == ("unreachable", True)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        port = other.sockets[0].getsockname()[1]
        async with MajlisClient(f"http://127.0.0.1:{port}", patience_seconds=0) as client:
            with pytest.raises(MajlisError) as unexpected:
                await client.health()
    assert unexpected.value.code == "unexpected_answer"


@pytest.mark.parametrize("url", ["", "127.0.0.1:8700", "ftp://x", "http://", "http://[", "http://a b", "\udc80"])
def test_an_invalid_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigurationError, match="not a valid Majlis server URL"):
        MajlisClient(url)


@pytest.mark.parametrize("token", ["", "  ", "mj_ü", "mj_a b", "mj_a\nb"])
def test_a_token_that_can_be_none_is_refused_at_once(token: str) -> None:
    with pytest.raises(ConfigurationError, match="token"):
        MajlisClient("http://127.0.0.1:8700", token)
