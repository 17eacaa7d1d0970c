"""The inbox, one line per event (K2). Texts are JSON strings, payloads are JSON, and ambiguous names are quoted, so
that no text can imitate another line or source."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from majlis.clock import Millis, iso
from majlis.minds.consciousness.scene import Event
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN, room_for_inbox, size
from majlis.minds.quote import bare, quote, quote_json, quote_start
from majlis.minds.timeline.lines import file_mark
from majlis.minds.timeline.scene import OwnSpace
from majlis.shorten import fair_limit

PREVIEWED = 50
_MAX_LINES = 20
# The fewest bytes of content per event. If not all events fit, the first are listed and the rest counted.
_SHORTEST = 120
_AROUND = 120
_MAX_NAME = 128
_PLAIN = re.compile(r"[^\[\]()\":]{1,64}")
_PLAIN_ID = re.compile(r"[\w.-]{1,128}", re.ASCII)
_MOMENT = re.compile(r"[0-9TZ:.-]{1,32}", re.ASCII)


def inbox_lines(events: Sequence[Event], now: Millis, spaces: Sequence[OwnSpace], max_tokens: int) -> list[str]:
    """The heading and one line per event, within the inbox's share of the budget."""
    room = room_for_inbox(max_tokens) * BYTES_PER_TOKEN
    shown = events[: max(1, room // (_SHORTEST + _AROUND))]
    limit = max(_SHORTEST, fair_limit([size(_content(event)) for event in shown], room - _AROUND * len(shown)))
    lines = [event_line(event, spaces, limit) for event in shown]
    while limit > _SHORTEST and sum(map(size, lines)) > room:
        # Escapes and multi-byte scripts take more than `limit` bytes.
        limit = max(_SHORTEST, limit * 3 // 4)
        lines = [event_line(event, spaces, limit) for event in shown]
    heading = f"INBOX ({_counted(len(events))}, {iso(now)}):"
    return [heading, *lines, *_left_out(events[len(shown) :], spaces)]


def message_times(events: Sequence[Event]) -> list[str]:
    """The times of the messages in a line of their own, in the order of the messages (F8)."""
    sent = [str(event["timestamp"]) for event in events if event["type"] == "space_message" and "timestamp" in event]
    shown = [moment for moment in sent if _MOMENT.fullmatch(moment)][:_MAX_LINES]
    return [f"TIMES of the messages, in this order: {', '.join(shown)}"] if shown else []


def preview_lines(events: Sequence[Event], spaces: Sequence[OwnSpace]) -> list[str]:
    """Source, sender and beginning of the events that arrived during a cycle (K5)."""
    have = "has" if len(events) == 1 else "have"
    heading = f"ARRIVED MEANWHILE ({_counted(len(events))} {have} come; peek_inbox takes them into this cycle):"
    lines = [event_line(event, spaces, PREVIEWED) for event in events[:_MAX_LINES]]
    return [heading, *lines, *_left_out(events[_MAX_LINES:], spaces)]


def event_line(event: Event, spaces: Sequence[OwnSpace], limit: int) -> str:
    """`limit` applies to the text or payload."""
    line = _line(event, spaces, limit)
    return f"{line} (again: your last cycle ended at a limit before it answered this)" if event.get("again") else line


def _line(event: Event, spaces: Sequence[OwnSpace], limit: int) -> str:
    note = limit > PREVIEWED
    match event["type"]:
        case "space_message":
            asks = " (expects a reply)" if event.get("senderExpectsReply") else ""
            text = str(event["text"])
            more = f" (cut: the first {limit} of {len(text)} characters; read_messages has all)"
            said = quote_start(text, limit) + (more if note and len(text) > limit else "")
            said += "".join(f" {file_mark(file)}" for file in event.get("files", ()))
            return f"[{_space(event, spaces)}] {event['senderName']} ({event['senderType']}): {said}{asks}"
        case "plan":
            text = str(event["instruction"])
            # The agent wrote it, so it may be unquoted.
            instruction = bare(text) if len(text) <= limit else quote_start(text, limit)
            return f"[Plan: {_named(event['planName'])}] {instruction}"
        case "service":
            label = f", label: {quote_start(str(event['serviceLabel']), _MAX_NAME)}" if "serviceLabel" in event else ""
            return f"[Service: {_named(event['serviceName'])}{label}] {quote_json(event['payload'], limit, note)}"
        case "tool_result":
            ids = (str(event.get(name)) for name in ("toolName", "toolCallId"))
            name, call = (each if _PLAIN_ID.fullmatch(each) else quote_start(each, _MAX_NAME) for each in ids)
            return f"[Tool Result: {name}, call: {call}] {quote_json(event['result'], limit, note)}"
        case "heartbeat":
            moment = str(event["scheduledAt"])
            shown = moment if _MOMENT.fullmatch(moment) else quote(moment)
            return f"[Heartbeat] {shown}: a scheduled wake-up; no event caused it"
        case other:
            return f"[{_named(other)}] {quote_json(dict(event), limit, note)}"


def _counted(number: int) -> str:
    return "1 event" if number == 1 else f"{number} events"


def _content(event: Event) -> str:
    match event["type"]:
        case "space_message":
            return str(event["text"])
        case "plan":
            return str(event["instruction"])
        case "service" | "tool_result":
            return json.dumps(event.get("payload", event.get("result")), ensure_ascii=False, default=str)
    return ""


def _space(event: Event, spaces: Sequence[OwnSpace]) -> str:
    """The name of the space, with its id if the name is ambiguous."""
    name = str(event["spaceName"])
    same = sum(space.name == name for space in spaces)
    known = any(space.id == event["spaceId"] for space in spaces)
    shown = name if _PLAIN.fullmatch(name) and name.casefold() != "heartbeat" else quote(name)
    return shown if same == 1 and known else f"{shown}, id: {event['spaceId']}"


def _named(name: object) -> str:
    text = str(name)
    return text if _PLAIN.fullmatch(text) and bare(text) == text else quote_start(text, _MAX_NAME)


def _left_out(events: Sequence[Event], spaces: Sequence[OwnSpace]) -> list[str]:
    if not events:
        return []
    sources = Counter(
        f"[{_space(event, spaces)}]" if event["type"] == "space_message" else str(event["type"]) for event in events
    )
    listed = ", ".join(f"{source} × {times}" for source, times in sorted(sources.items())[:20])
    return [f"(and {_counted(len(events))} more that are not shown here: {listed})"]
