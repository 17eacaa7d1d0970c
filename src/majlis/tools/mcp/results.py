"""The result of an MCP call, as JSON for the model: text and structured content; other content is only described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from majlis.errors import MajlisError

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


class NotCalled(MajlisError):
    """The server did not accept the connection: the call was not made and may be made over a new one."""


def result_json(result: CallToolResult) -> dict[str, Any]:
    texts = [block.text for block in result.content if block.type == "text"]
    rest = [_description(block) for block in result.content if block.type != "text"]
    found: dict[str, Any] = {"success": not result.is_error}
    if result.structured_content is not None:
        found["structured"] = result.structured_content
        # Servers repeat structured content as text, for older clients.
        texts = [text for text in texts if not _repeats(text, result.structured_content)]
    if texts or result.structured_content is None:
        found["text"] = "\n".join(texts)
    if rest:
        found["attachments"] = rest
    return found


def _repeats(text: str, value: Any) -> bool:
    """Plain values are wrapped as `{"result": …}`."""
    wrapped = value.get("result") if isinstance(value, dict) and len(value) == 1 else value
    try:
        return text == wrapped or orjson.loads(text) in (value, wrapped)
    except orjson.JSONDecodeError:
        return False


def _description(block: ContentBlock) -> dict[str, Any]:
    match block.type:
        case "image" | "audio":
            return {"type": block.type, "mimeType": block.mime_type, "bytes": len(block.data) * 3 // 4}
        case "resource_link":
            return {"type": "link", "uri": str(block.uri), "name": block.name}
        case "resource":
            resource = block.resource
            return {"type": "resource", "uri": str(resource.uri), "text": getattr(resource, "text", None)}
    return {"type": str(block.type)}
