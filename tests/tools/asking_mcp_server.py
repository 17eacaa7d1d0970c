"""A real MCP server that asks people, from the `mcp` package. An `old` one speaks the protocol before 2026-07-28, so it
asks while it works on a call; a new one ends the call with its questions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from mcp.server.elicitation import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import ElicitRequest, ElicitRequestURLParams, ElicitResult, InputRequiredResult
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.tools.uvicorn_server import serving_app

PAGE = "https://bank.example.com/pay?order=7"


class Seat(BaseModel):
    row: int = Field(ge=1, le=30, description="Counted from the front.")
    side: Literal["left", "right"] = "left"


class Meal(BaseModel):
    meal: str


Outcome = AcceptedElicitation[Seat] | DeclinedElicitation | CancelledElicitation


def _seat(train: str) -> Elicit[Seat]:
    return Elicit(f"Where do you want to sit in {train}?", Seat)


def _meal() -> Elicit[Meal]:
    return Elicit("What do you want to eat?", Meal)


def make_server() -> MCPServer:
    server = MCPServer("trains", log_level="CRITICAL")

    @server.tool(structured_output=False)
    def book(train: str, seat: Annotated[Outcome, Resolve(_seat)]) -> str:
        if isinstance(seat, AcceptedElicitation):
            return f"{train}: row {seat.data.row} {seat.data.side}"
        return f"{train}: {seat.action}"

    @server.tool(structured_output=False)
    def travel(train: str, seat: Annotated[Seat, Resolve(_seat)], meal: Annotated[Meal, Resolve(_meal)]) -> str:
        return f"{train}: row {seat.row} with {meal.meal}"

    @server.tool(structured_output=False)
    async def pay(ctx: Context[Any, Any]) -> str | InputRequiredResult:
        if ctx.protocol_version is not None and ctx.protocol_version < "2026":
            return (await ctx.elicit_url("Pay for order 7", PAGE, "e7")).action
        answer = (ctx.input_responses or {}).get("page")
        if isinstance(answer, ElicitResult):
            return answer.action
        asked = ElicitRequest(params=ElicitRequestURLParams(message="Pay for order 7", url=PAGE))
        return InputRequiredResult(input_requests={"page": asked})

    signed_in: list[bool] = []

    @server.tool(structured_output=False)
    def orders() -> str:
        if not signed_in:
            signed_in.append(True)
            page = ElicitRequestURLParams(message="Sign in", url=PAGE, elicitation_id="e1")
            raise UrlElicitationRequiredError([page])
        return "order 7"

    return server


@asynccontextmanager
async def asking_server(old: bool = False) -> AsyncIterator[int]:
    """Its port."""
    app: ASGIApp = make_server().streamable_http_app(host="127.0.0.1")
    async with serving_app(_Old(app) if old else app) as port:
        yield port


class _Old:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (b"mcp-protocol-version", b"2026-07-28") in scope.get("headers", ()):
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, send)
