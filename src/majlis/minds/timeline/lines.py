"""Messages as lines of the timeline (X4). Names are validated when they are saved; everything else is quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from majlis.clock import iso
from majlis.minds.quote import bare, quote, quote_json, quote_start, references
from majlis.minds.timeline.scene import Message, Resume, Scene

MAX_TEXT = 8_000
MAX_QUOTED = 300
_TOOL_NAME = re.compile(r"[\w.-]+", re.ASCII)
_PLAIN_NAME = re.compile(r"[^\[\]():]{1,64}")


def message_line(scene: Scene, message: Message) -> str:
    return _line(scene, message, f"  [{_tag(scene, message)}]{marks(scene, message)}")


def seen_line(scene: Scene, message: Message) -> str:
    """Like `message_line`, for a seen message that is neither trigger nor answer."""
    return _line(scene, message, "  [SEEN]")


def _line(scene: Scene, message: Message, end: str) -> str:
    """One line; two for a message that the agent sent here because of another space (M14)."""
    because = _because(scene, message) if message.origin is not None else None
    if because is not None:
        return f"  {stamp(message)} You: [{because}]{end}\n    {quote(message.text)}"
    sender = message.sender
    return f"  {stamp(message)} {sender.name} ({sender.type}, id:{sender.id}): {_content(scene, message)}{end}"


def stamp(message: Message) -> str:
    return f"[msg:{message.id}] [{iso(message.created_at)}]"


def marks(scene: Scene, message: Message) -> str:
    if is_trigger(scene, message):
        return " ← TRIGGER"
    return f" {resume_mark(scene.resume)}" if scene.resume and message.id == scene.resume.message_id else ""


def is_trigger(scene: Scene, message: Message) -> bool:
    return message.id == scene.trigger.get("messageId")


def resume_mark(resume: Resume) -> str:
    return f"← RESUME: {_how(resume)}. Continue from here."


def quotes(scene: Scene, text: str) -> str:
    """X12: the messages that a text refers to, if the agent may read them."""
    found = [scene.quoted[named] for named in references(text) if named in scene.quoted]
    return "".join(
        f" (quotes msg:{message.id} by {message.sender.name}: {quote_start(message.text, MAX_QUOTED)})"
        for message in found
    )


def tool_name(name: str) -> str:
    return name if _TOOL_NAME.fullmatch(name) else quote(name)


def _how(resume: Resume) -> str:
    if resume.tool is not None:
        return _how_asked(resume, tool_name(resume.tool))
    if resume.status == "replied":
        return f"{resume.sender_name} replied"
    if resume.reason == "deadlock":
        return "timeout (deadlock: everyone who could answer was waiting, too)"
    return f"timeout, nobody replied within {resume.seconds} s"


def _how_asked(resume: Resume, tool: str) -> str:
    match resume.status, resume.approved:
        case "answered", None:
            return f"{resume.sender_name} answered {tool}"
        case "answered", True:
            return f"{resume.sender_name} approved {tool}, and it was called"
        case "answered", False:
            return f"{resume.sender_name} did not approve {tool}"
        case "withdrawn", _:
            return f"{tool} was withdrawn because you left the space"
    return f"timeout, nobody answered {tool} within {resume.seconds} s"


def _tag(scene: Scene, message: Message) -> str:
    """C1, C3. The trigger is always new, even if another run has seen it."""
    assert scene.active is not None
    if message.sender.id == scene.agent.id:
        return "SEEN"
    return "NEW" if message.seq > scene.active.cursor or is_trigger(scene, message) else "SEEN"


def _content(scene: Scene, message: Message) -> str:
    if message.kind == "tool" and message.tool is not None:
        return tool_use(message.tool)
    text = _text(message.text)
    if message.reply_to:
        text += f" (in reply to msg:{message.reply_to})"
    return text + quotes(scene, message.text) if scene.quoted else text


def _text(text: str) -> str:
    """Truncated: fifty messages of the maximum length would not fit any model. The TRIGGER block has the whole text."""
    if len(text) <= MAX_TEXT:
        return quote(text)
    return f"{quote(text[:MAX_TEXT])}… (cut: the first {MAX_TEXT} of {len(text)} characters; read_messages has all)"


def tool_use(tool: Mapping[str, Any]) -> str:
    if tool.get("ui"):
        return _card(tool)
    outcome = "running" if tool.get("status") == "running" else quote_json(tool.get("output"))
    failed = "error: " if tool.get("status") == "error" else ""
    return f"used tool {tool_name(str(tool.get('name')))} {quote_json(tool.get('input'))} → {failed}{outcome}"


def _card(tool: Mapping[str, Any]) -> str:
    """A question to people, and their answer."""
    asked = "asked for permission to use tool" if tool.get("purpose") == "permission" else "asked people with tool"
    who = tool.get("answeredBy") or {}
    by = f"{_plain_name(str(who.get('name')))}: " if who else ""
    outcome = "not answered yet" if tool.get("status") == "running" else f"{by}{quote_json(tool.get('output'))}"
    return f"{asked} {tool_name(str(tool.get('name')))} {quote_json(tool.get('input'))} → {outcome}"


def _because(scene: Scene, message: Message) -> str | None:
    """Why the agent sent this. None if it may no longer read the space that caused it."""
    if message.origin is None or message.sender.id != scene.agent.id:
        return None
    origin = message.origin
    name = next((space.name for space in scene.spaces if space.id == origin.get("sourceSpace")), None)
    if name is None:
        return None
    who, text = _asked(scene, origin)
    if not (isinstance(who, str) and isinstance(text, str)):
        return f"sent because of a message in {quote(name)}"
    return f"sent because {_plain_name(who)} asked {quote_start(text, MAX_QUOTED)} in {quote(name)}"


def _asked(scene: Scene, origin: Mapping[str, Any]) -> tuple[Any, Any]:
    """Sender and text: of the message itself, or else as the sending run recorded them."""
    source = scene.quoted.get(str(origin.get("sourceEvent")))
    if source is not None:
        return source.sender.name, source.text
    return origin.get("sourceSender"), origin.get("sourceText")


def _plain_name(name: str) -> str:
    """A name in an origin or a card is not validated."""
    return name if _PLAIN_NAME.fullmatch(name) and bare(name) == name else quote(name)
