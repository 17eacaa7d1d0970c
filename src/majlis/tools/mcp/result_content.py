"""The content of results of MCP servers, as JSON for the model and as files."""

from __future__ import annotations

import mimetypes
from base64 import b64decode
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from majlis.runs.calls.made_files import MadeFile

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock, EmbeddedResource, ResourceLink

# A longer text of a resource becomes a file, of which the model can read the rest.
MAX_TEXT = 20_000


def result_json(result: CallToolResult) -> dict[str, Any]:
    """Text, structured content, texts of resources and links; binary content is only described."""
    texts = [block.text for block in result.content if block.type == "text"]
    binary = [_description(block) for block in result.content if _is_binary(block)]
    resources = [_resource(block) for block in result.content if block.type == "resource" and not _is_binary(block)]
    links = [_link(block) for block in result.content if block.type == "resource_link"]
    found: dict[str, Any] = {"success": not result.is_error}
    if result.structured_content is not None:
        found["structured"] = result.structured_content
        # Servers repeat structured content as text, for older clients.
        texts = _without_repeats(texts, result.structured_content)
    if texts or (result.structured_content is None and not resources):
        found["text"] = "\n".join(texts)
    more = {"resources": resources, "links": links, "attachments": binary}
    return found | {name: value for name, value in more.items() if value}


def files_of(result: CallToolResult) -> list[MadeFile]:
    """Pictures, sound, and resources that are binary or long."""
    found: list[MadeFile | None] = []
    for n, block in enumerate(result.content, 1):
        match block.type:
            case "image" | "audio":
                ending = mimetypes.guess_extension(block.mime_type) or ""
                found.append(_made(f"{block.type}-{n}{ending}", block.data))
            case "resource" if _is_binary(block):
                found.append(_made(_name_of(block, n), getattr(block.resource, "blob", "")))
            case "resource" if len(text := getattr(block.resource, "text", "")) > MAX_TEXT:
                found.append(MadeFile(_name_of(block, n, ".txt"), text.encode(errors="replace")))
    return [each for each in found if each is not None]


def _is_binary(block: ContentBlock) -> bool:
    return block.type in ("image", "audio") or isinstance(getattr(getattr(block, "resource", None), "blob", None), str)


def _name_of(block: EmbeddedResource, n: int, ending: str = "") -> str:
    name = urlsplit(str(block.resource.uri)).path.rpartition("/")[2] or f"resource-{n}"
    return name if "." in name else name + (ending or mimetypes.guess_extension(block.resource.mime_type or "") or "")


def _made(name: str, data: str) -> MadeFile | None:
    try:
        return MadeFile(name, b64decode(data, validate=True))
    except ValueError:
        return None


def _without_repeats(texts: list[str], value: Any) -> list[str]:
    """A value alone is wrapped, as in `{"result": …}`, and a list may come as one text per item."""
    wrapped = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
    if isinstance(wrapped, list) and len(texts) == len(wrapped) and all(map(_says, texts, wrapped)):
        return []
    return [text for text in texts if not (_says(text, value) or _says(text, wrapped))]


def _says(text: str, value: Any) -> bool:
    try:
        return bool(text == value or orjson.loads(text) == value)
    except orjson.JSONDecodeError:
        return False


def _description(block: ContentBlock) -> dict[str, Any]:
    match block.type:
        case "image" | "audio":
            return {"type": block.type, "mimeType": block.mime_type, "bytes": len(block.data) * 3 // 4}
        case "resource":
            size = len(getattr(block.resource, "blob", "")) * 3 // 4
            return {"type": "resource", "uri": str(block.resource.uri), "bytes": size}
    return {"type": str(block.type)}


def _resource(block: EmbeddedResource) -> dict[str, Any]:
    text = getattr(block.resource, "text", "")
    if len(text) <= MAX_TEXT:
        return {"uri": str(block.resource.uri), "text": text}
    note = f"The first {MAX_TEXT} of {len(text)} characters. The whole text is a file."
    return {"uri": str(block.resource.uri), "text": text[:MAX_TEXT], "note": note}


def _link(block: ResourceLink) -> dict[str, Any]:
    more = {"description": block.description, "mimeType": block.mime_type, "bytes": block.size}
    return {"uri": str(block.uri), "name": block.name, **{name: value for name, value in more.items() if value}}
