"""The TRIGGER block (X2), and its short form for ACTIVE RUNS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from majlis.minds.quote import quote, quote_json
from majlis.minds.timeline.lines import quotes, tool_name
from majlis.minds.timeline.scene import Scene

MAX_PAYLOAD = 20_000


def trigger_block(scene: Scene) -> str:
    form = _FORMS.get(scene.trigger["type"])
    lines = [f"type: {scene.trigger['type']}", *(form(scene) if form else ())]
    return "\n  ".join(["TRIGGER:", *lines])


def triggered_by(trigger: Mapping[str, Any]) -> str:
    match trigger["type"]:
        case "space_message":
            return f"triggered by {trigger['senderName']} in {quote(trigger['spaceName'])}"
        case "plan":
            return f"triggered by plan {quote(trigger['planName'])}"
        case "service":
            return f"triggered by service {quote(trigger['serviceName'])}"
        case "tool_result":
            return f"triggered by the result of {tool_name(str(trigger['toolName']))}"
        case other:
            return f"triggered by {other}"


def _message(scene: Scene) -> list[str]:
    trigger = scene.trigger
    lines = [
        f"space: {quote(trigger['spaceName'])} (id: {trigger['spaceId']})",
        f"sender: {trigger['senderName']} ({trigger['senderType']}, id: {trigger['senderId']})",
        f"message: {quote(trigger['text'])}{_quotes(scene)}",
        f"messageId: {trigger['messageId']}",
        f"timestamp: {quote(trigger['timestamp'])}",
    ]
    if scene.config.waits:
        lines.append(f"senderExpectsReply: {str(trigger['senderExpectsReply']).lower()}")
    lines.append(f"chainDepth: {trigger['chainDepth']}")
    if "answersExpired" in trigger:
        lines.append(f"answersExpired: {trigger['answersExpired']} (your question there had timed out)")
    return lines


def _quotes(scene: Scene) -> str:
    """Only if the message has no line in the history, which would show them."""
    message_id, text = scene.trigger["messageId"], scene.trigger["text"]
    return "" if any(message.id == message_id for message in scene.history) else quotes(scene, text)


def _plan(scene: Scene) -> list[str]:
    trigger = scene.trigger
    return [
        f"plan: {quote(trigger['planName'])} (id: {trigger['planId']})",
        f"instruction: {quote(trigger['instruction'])}",
        f"scheduledAt: {quote(trigger['scheduledAt'])}",
    ]


def _service(scene: Scene) -> list[str]:
    trigger = scene.trigger
    return [
        f"service: {quote(trigger['serviceName'])}",
        f"payload: {quote_json(trigger['payload'], MAX_PAYLOAD)}",
    ]


def _heartbeat(scene: Scene) -> list[str]:
    return [
        f"scheduledAt: {quote(scene.trigger['scheduledAt'])}",
        "This is a scheduled wake-up. No event caused it.",
    ]


def _tool_result(scene: Scene) -> list[str]:
    """For a call that the agent made with the consciousness mind, which does not wait for results (J5)."""
    trigger = scene.trigger
    return [
        f"tool: {tool_name(str(trigger['toolName']))} (call: {tool_name(str(trigger['toolCallId']))})",
        f"result: {quote_json(trigger['result'], MAX_PAYLOAD)}",
    ]


_FORMS = {
    "space_message": _message,
    "plan": _plan,
    "service": _service,
    "heartbeat": _heartbeat,
    "tool_result": _tool_result,
}
