"""A real MCP server with everything that a result can hold, and with resources and prompts."""

from __future__ import annotations

import base64
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from tests.spaces.pictures import png

LONG = "All about tea. " * 5000


def make_server() -> MCPServer:
    server = MCPServer("library", log_level="CRITICAL")

    @server.tool(structured_output=False)
    def everything() -> CallToolResult:
        picture = base64.b64encode(png()).decode()
        return CallToolResult(
            content=[
                TextContent(type="text", text="Five things"),
                ImageContent(type="image", data=picture, mime_type="image/png"),
                ResourceLink(type="resource_link", uri="book://tea", name="tea", description="About tea"),
                EmbeddedResource(type="resource", resource=TextResourceContents(uri="note://1", text="A note")),
                EmbeddedResource(
                    type="resource", resource=BlobResourceContents(uri="book://covers/1.png", blob=picture)
                ),
            ]
        )

    @server.tool(structured_output=False)
    async def brew(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 2, "Water boils")
        await ctx.report_progress(2, 2)
        return "tea"

    @server.resource("book://tea")
    def tea() -> str:
        """All about tea."""
        return LONG

    @server.resource("book://{name}/first-page")
    def first_page(name: str) -> str:
        return f"The first page of {name}"

    @server.resource("book://cover", mime_type="image/png")
    def cover() -> bytes:
        return png()

    @server.prompt()
    def review(book: str) -> list[Message]:
        """How to review a book."""
        return [UserMessage(f"Review {book}. Be kind.")]

    return server
