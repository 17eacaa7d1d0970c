"""Finds copies of a deleted message in stored values and puts `[deleted]` in their place (L2).

A copy is found by the message's id beside it, and in prompts, which show it without an id, by its words.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from majlis.minds.quote import quote

DELETED = "[deleted]"
# A beginning of this length is a copy wherever it occurs. A shorter text counts only in quotes.
_TELLING = 24
_NAMES = ("id", "messageId", "sourceEvent")
_WORDS = ("text", "sourceText", "question", "files")
_SENDING = ("send_message", "send_files")


@dataclass(frozen=True)
class Copies:
    """`texts` are all versions of the message; none are known in later passes."""

    message_id: str
    texts: tuple[str, ...] = ()

    def without(self, value: Any) -> Any:
        """Objects that name the message lose its words. Text in which JSON is quoted is searched, too."""
        if isinstance(value, Mapping):
            mine = any(value.get(name) == self.message_id for name in _NAMES)
            return {
                name: _emptied(each) if mine and _is_words(name, each) else self._without_call(value, each)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self.without(each) for each in value]
        if isinstance(value, str) and self.message_id in value:
            return self._without_in_json(value)
        return value

    def without_in_event(self, data: str, now: Mapping[str, Any] | None) -> str:
        value = orjson.loads(data)
        message = value.get("message")
        if isinstance(message, dict) and message.get("id") == self.message_id and now is not None:
            value["message"] = now
        return orjson.dumps(self.without({**value, "message": None}) | self._message(value)).decode()

    def without_in_call(self, name: str | None, given: Any, output: Any) -> Any:
        """A reply names the message that it replies to, and stays."""
        if name not in _SENDING:
            return self.without(given)
        if self.is_sent_by(name, output) and isinstance(given, Mapping):
            return {**given, "text": DELETED}
        return given

    def is_sent_by(self, name: str | None, output: Any) -> bool:
        return name in _SENDING and isinstance(output, Mapping) and output.get("messageId") == self.message_id

    def without_in_answer(self, output: Any, calls: Collection[str]) -> Any:
        """A model's answer with the calls that sent the message."""
        if not isinstance(output, Mapping) or not isinstance(output.get("calls"), list):
            return output
        return {**output, "calls": [self._without_sent(call, calls) for call in output["calls"]]}

    def without_in_cycle(self, messages: Any, summary: str | None, trigger: Any) -> dict[str, Any]:
        kept = [self._turn(each) for each in messages] if isinstance(messages, list) else messages
        if isinstance(kept, list) and kept and isinstance(kept[0], dict):
            kept[0] = self._inbox(kept[0], trigger)
        return {"messages": kept, "summary": self.without_words(summary)}

    def without_words(self, value: Any) -> Any:
        """Replaces the words themselves, as they stand in prompts: whole, escaped, or only their beginning."""
        if isinstance(value, Mapping):
            return {name: self.without_words(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.without_words(each) for each in value]
        if not isinstance(value, str):
            return value
        for form in self._forms:
            value = _replaced(value, form)
        return value

    def occur_in(self, text: str) -> bool:
        return self.message_id in text or any(form[:_TELLING] in text for form in self._forms)

    @cached_property
    def _forms(self) -> list[str]:
        """The texts as they are, as JSON, and as JSON within JSON; the longest first."""
        forms: set[str] = set()
        for text in filter(str.strip, self.texts):
            dumped = {text, quote(text)[1:-1], json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
            forms |= {each if len(text) >= _TELLING else f'"{each}"' for each in dumped}
            forms |= {json.dumps(quote(text), ensure_ascii=escaped)[1:-1] for escaped in (True, False)}
        return sorted(forms, key=len, reverse=True)

    def _without_call(self, within: Mapping[str, Any], value: Any) -> Any:
        """The arguments of a call that sent a message may name the message that it replies to."""
        return value if within.get("name") in _SENDING and isinstance(value, str) else self.without(value)

    def _without_in_json(self, text: str) -> str:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        clean = self.without(value)
        return text if clean == value else orjson.dumps(clean).decode()

    def _message(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {"message": value["message"]} if "message" in value else {}

    def _without_sent(self, call: Any, calls: Collection[str]) -> Any:
        if not isinstance(call, Mapping) or call.get("name") not in _SENDING:
            return call
        try:
            given = orjson.loads(call.get("arguments") or "{}")
        except orjson.JSONDecodeError:
            given = None
        if not isinstance(given, dict):
            return call
        mine = given.get("text") in self.texts if self.texts else call.get("id") in calls
        return {**call, "arguments": orjson.dumps({**given, "text": DELETED}).decode()} if mine else call

    def _turn(self, message: Any) -> Any:
        """The agent keeps its own words, except for the call that sent the message."""
        if not isinstance(message, Mapping):
            return message
        if message.get("role") != "assistant":
            content = message.get("content")
            return {**message, "content": self.without_words(self.without(content))}
        made = message.get("tool_calls")
        return {**message, "tool_calls": [self._made(each) for each in made]} if isinstance(made, list) else message

    def _made(self, call: Any) -> Any:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            return call
        if function.get("name") in _SENDING:
            return {**call, "function": self._without_sent(function, ())}
        return {**call, "function": self.without(function)}

    def _inbox(self, first: dict[str, Any], trigger: Any) -> dict[str, Any]:
        """The lines of the inbox are those of the trigger's events, in the same order, below a heading."""
        content = first.get("content")
        listed = trigger.get("events") if isinstance(trigger, Mapping) else None
        if not isinstance(content, str) or not isinstance(listed, list):
            return first
        lines = content.split("\n")
        start = next((n for n, line in enumerate(lines) if line.startswith("INBOX (")), None)
        for n, event in enumerate(listed):
            at = -1 if start is None else start + 1 + n
            if event.get("messageId") == self.message_id and 0 < at < len(lines):
                said, colon, _ = lines[at].partition('): "')
                lines[at] = f"{said}{colon}{DELETED}" + '"' if colon else lines[at]
        return {**first, "content": "\n".join(lines)}


def _is_words(name: str, value: Any) -> bool:
    """The card of an ask repeats its question and has its answers."""
    return (name in _WORDS and isinstance(value, (str, list))) or (
        name == "tool" and isinstance(value, dict) and "ask" in value
    )


def _emptied(value: Any) -> Any:
    return [] if isinstance(value, list) else DELETED


def _replaced(text: str, form: str) -> str:
    start = text.find(form[:_TELLING])
    while start >= 0:
        end = start
        while end - start < len(form) and end < len(text) and text[end] == form[end - start]:
            end += 1
        left, right = (form[0], form[-1]) if form[0] == '"' == form[-1] else ("", "")
        text = f"{text[:start]}{left}{DELETED}{right}{text[end:]}"
        start = text.find(form[:_TELLING], start + len(DELETED))
    return text
