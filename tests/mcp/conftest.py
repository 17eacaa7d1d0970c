"""Real clients of the `mcp` package, over HTTP, in both ages of the protocol: with a handshake, and without."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Literal

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from tests.world import Person

Age = Literal["legacy", "2026-07-28"]


class Session:
    """A connected client of a member."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ok(self, tool: str, **arguments: Any) -> Any:
        """The structured result of a call, which also fits the schema of the tool: the client checks it."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refusal(self, tool: str, **arguments: Any) -> tuple[str, str]:
        """The code and the message of an error."""
        return refusal_of(await self.client.call_tool(tool, arguments))


Connect = Callable[..., AbstractAsyncContextManager[Session]]


def refusal_of(result: CallToolResult) -> tuple[str, str]:
    assert result.is_error, result.structured_content
    assert result.structured_content is None
    assert result.meta is not None
    [content] = result.content
    assert content.type == "text"
    return result.meta["majlis/error"]["code"], content.text


@pytest.fixture(params=["legacy", "2026-07-28"])
def age(request: pytest.FixtureRequest) -> Age:
    found: Age = request.param
    return found


@pytest.fixture
def connect(age: Age) -> Connect:
    @asynccontextmanager
    async def connected(person: Person, base_url: str | None = None) -> AsyncIterator[Session]:
        headers = {"authorization": f"Bearer {person.token}"}
        url = f"{base_url or person.base_url}/mcp"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http), mode=age, cache=None) as client,
        ):
            yield Session(client)

    return connected
