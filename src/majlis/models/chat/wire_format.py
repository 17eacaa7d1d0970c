"""A prompt in the form of the Chat Completions protocol, which is also the form in which it is kept (X13)."""

from __future__ import annotations

from typing import Any

from majlis.models.port import Call, Prompt, Result, Said, System, Turn, User


def chat_messages(prompt: Prompt) -> list[dict[str, Any]]:
    return [_message(turn) for turn in prompt.turns]


def chat_tools(prompt: Prompt) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in prompt.tools
    ]


def _message(turn: Turn) -> dict[str, Any]:
    match turn:
        case System():
            return {"role": "system", "content": turn.text}
        case User():
            return {"role": "user", "content": turn.text}
        case Said():
            return _said(turn)
        case Result():
            return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.content}


def _said(turn: Said) -> dict[str, Any]:
    if not turn.calls:
        return {"role": "assistant", "content": turn.text}
    return {"role": "assistant", "content": turn.text or None, "tool_calls": [_call(call) for call in turn.calls]}


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
