"""Resources and prompts of a server, as results like those of its tools."""

from __future__ import annotations

from typing import Any

from mcp.types import (
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
)

from majlis.tools.mcp.offer import Listed

_MAX_TEXT = 500


def read_result(found: ReadResourceResult) -> CallToolResult:
    return CallToolResult(content=[EmbeddedResource(type="resource", resource=each) for each in found.contents])


def prompt_result(found: GetPromptResult) -> CallToolResult:
    """The messages as data. Pictures, sound and resources in them follow, as in the result of a tool."""
    others: list[ContentBlock] = []
    messages = []
    for message in found.messages:
        if isinstance(message.content, TextContent):
            messages.append({"role": message.role, "text": message.content.text})
        else:
            others.append(message.content)
            messages.append({"role": message.role, "content": f"[{message.content.type} {len(others)}, see below]"})
    description = {"description": found.description} if found.description else {}
    return CallToolResult(content=others, structured_content={**description, "messages": messages})


def resource_list(listed: Listed) -> CallToolResult:
    resources = [_resource(each) for each in listed.resources]
    templates = [_resource(each) for each in listed.templates]
    return CallToolResult(content=[], structured_content={"resources": resources, "templates": templates})


def prompt_list(listed: Listed) -> CallToolResult:
    return CallToolResult(content=[], structured_content={"prompts": [_prompt(each) for each in listed.prompts]})


def _resource(each: Resource | ResourceTemplate) -> dict[str, Any]:
    where = {"uri": each.uri} if isinstance(each, Resource) else {"uriTemplate": each.uri_template}
    size = each.size if isinstance(each, Resource) else None
    more = {"description": (each.description or "")[:_MAX_TEXT], "mimeType": each.mime_type, "bytes": size}
    return {**where, "name": each.name, **{name: value for name, value in more.items() if value}}


def _prompt(each: Prompt) -> dict[str, Any]:
    arguments = [
        {"name": given.name, "description": (given.description or "")[:_MAX_TEXT], "required": bool(given.required)}
        for given in each.arguments or ()
    ]
    return {"name": each.name, "description": (each.description or "")[:_MAX_TEXT], "arguments": arguments}
