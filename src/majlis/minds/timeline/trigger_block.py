"""The TRIGGER block (X2), and its short form for ACTIVE RUNS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from majlis.minds.quote import quote, quote_json
from majlis.minds.timeline.lines import quotes, tool_name
from majlis.minds.timeline.scene import Scene

MAX_PAYLOAD = 20_000


def trigger_block(scene: Scene) -> str:
    return "\n  ".join(["TRIGGER:", f"type: {scene.trigger['type']}", *_fields(scene, scene.trigger)])


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


def _fields(scene: Scene, trigger: Mapping[str, Any]) -> list[str]:
    match trigger["type"]:
        case "space_message":
            return _message(scene, trigger)
        case "plan":
            return [
                f"plan: {quote(trigger['planName'])} (id: {trigger['planId']})",
                f"instruction: {quote(trigger['instruction'])}",
                f"scheduledAt: {quote(trigger['scheduledAt'])}",
            ]
        case "service":
            return [
                f"service: {quote(trigger['serviceName'])}",
                f"payload: {quote_json(trigger['payload'], MAX_PAYLOAD)}",
            ]
        case "heartbeat":
            return [
                f"scheduledAt: {quote(trigger['scheduledAt'])}",
                "This is a scheduled wake-up. No event caused it.",
            ]
        case "tool_result":
            # For a call that the agent made with the consciousness mind, which does not wait for results (J5).
            return [
                f"tool: {tool_name(str(trigger['toolName']))} (call: {tool_name(str(trigger['toolCallId']))})",
                f"result: {quote_json(trigger['result'], MAX_PAYLOAD)}",
            ]
    return []


def _message(scene: Scene, trigger: Mapping[str, Any]) -> list[str]:
    # The message's line in the history shows what it quotes.
    in_history = any(message.id == trigger["messageId"] for message in scene.history)
    lines = [
        f"space: {quote(trigger['spaceName'])} (id: {trigger['spaceId']})",
        f"sender: {trigger['senderName']} ({trigger['senderType']}, id: {trigger['senderId']})",
        f"message: {quote(trigger['text'])}{'' if in_history else quotes(scene, trigger['text'])}",
        f"messageId: {trigger['messageId']}",
        f"timestamp: {quote(trigger['timestamp'])}",
    ]
    if scene.config.waits:
        lines.append(f"senderExpectsReply: {str(trigger['senderExpectsReply']).lower()}")
    lines.append(f"chainDepth: {trigger['chainDepth']}")
    if "answersExpired" in trigger:
        lines.append(f"answersExpired: {trigger['answersExpired']} (your question there had timed out)")
    return lines
