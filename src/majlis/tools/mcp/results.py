"""What an MCP tool answered, as JSON for the model: text and structured content; other things are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def result_json(result: CallToolResult) -> dict[str, Any]:
    texts = [block.text for block in result.content if block.type == "text"]
    rest = [_named(block) for block in result.content if block.type != "text"]
    found: dict[str, Any] = {"success": not result.is_error}
    if result.structured_content is not None:
        found["structured"] = result.structured_content
        # Servers say the same again as text, for clients that read nothing else.
        texts = [text for text in texts if not _says(text, result.structured_content)]
    if texts or result.structured_content is None:
        found["text"] = "\n".join(texts)
    if rest:
        found["attachments"] = rest
    return found


def _says(text: str, value: Any) -> bool:
    """Plain values come wrapped as `{"result": …}`."""
    wrapped = value.get("result") if isinstance(value, dict) and len(value) == 1 else value
    try:
        return text == wrapped or orjson.loads(text) in (value, wrapped)
    except orjson.JSONDecodeError:
        return False


def _named(block: ContentBlock) -> dict[str, Any]:
    """Pictures, sounds and files are not shown to models; that they are there is."""
    match block.type:
        case "image" | "audio":
            return {"type": block.type, "mimeType": block.mime_type, "bytes": len(block.data) * 3 // 4}
        case "resource_link":
            return {"type": "link", "uri": str(block.uri), "name": block.name}
        case "resource":
            resource = block.resource
            return {"type": "resource", "uri": str(resource.uri), "text": getattr(resource, "text", None)}
    return {"type": str(block.type)}
