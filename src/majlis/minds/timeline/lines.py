"""Messages as lines of the timeline (X4). Names are validated when they are saved; everything else is quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from majlis.clock import iso
from majlis.files.names import size_text
from majlis.minds.quote import bare, quote, quote_json, quote_start, references
from majlis.minds.timeline.scene import Edit, Message, Resume, Scene
from majlis.shorten import shorten_text
from majlis.spaces.mentions import says_name

MAX_TEXT = 8_000
MAX_QUOTED = 300
_TOOL_NAME = re.compile(r"[\w.-]+", re.ASCII)
_EVENTS = {
    "plan": "a plan",
    "service": "an event of a service",
    "heartbeat": "a heartbeat",
    "tool_result": "an answer to a card",
}
_PLAIN_NAME = re.compile(r"[^\[\]():]{1,64}")


def message_line(scene: Scene, message: Message) -> str:
    return _line(scene, message, f"  [{_tag(scene, message)}]{marks(scene, message)}")


def seen_line(scene: Scene, message: Message) -> str:
    """Like `message_line`, for a seen message that is neither trigger nor answer."""
    return _line(scene, message, "  [SEEN]")


def _line(scene: Scene, message: Message, end: str) -> str:
    """One line; two for a message that the agent sent here because of another space (M14)."""
    because = why_sent(scene, message) if message.origin is not None and message.deleted_by is None else None
    if because is not None and message.sender.id == scene.agent.id:
        return f"  {stamp(message)} You: [{because}]{end}\n    {quote(message.text)}"
    sender = message.sender
    end = f" ({because}){end}" if because is not None else end
    which = "you" if sender.id == scene.agent.id else f"id:{sender.id}"
    return f"  {stamp(message)} {sender.name} ({sender.type}, {which}): {_content(scene, message)}{end}"


def edit_lines(scene: Scene, message: Message) -> list[str]:
    """L1: the edits that follow this message."""
    return [_edit_line(edit) for edit in scene.edits.get(message.seq, ())] if scene.edits else []


def _edit_line(edit: Edit) -> str:
    sender = edit.message.sender
    who = f"{sender.name} ({sender.type}, id:{sender.id})"
    return f"  [msg:{edit.message.id}] [{iso(edit.at)}] {who} edited: {_text(edit.text)}"


def deletion(message: Message) -> str:
    """L2: what stands in place of the text."""
    assert message.deleted_by is not None
    return f"(deleted by {_plain_name(str(message.deleted_by.get('name')))})"


def stamp(message: Message) -> str:
    return f"[msg:{message.id}] [{iso(message.created_at)}]"


def marks(scene: Scene, message: Message) -> str:
    if is_trigger(scene, message):
        return " ← TRIGGER"
    if scene.resume is None:
        return ""
    if message.id == scene.resume.message_id:
        return f" {resume_mark(scene.resume)}"
    return f" {_answer_mark(scene.resume, message.id)}" if message.id in (scene.resume.answers or ()) else ""


def calls_agent(scene: Scene, message: Message) -> bool:
    """A new message of another member that names the agent."""
    mine = message.sender.id == scene.agent.id or scene.active is None or message.seq <= scene.active.cursor
    return not mine and says_name(message.text, scene.agent.name)


def is_trigger(scene: Scene, message: Message) -> bool:
    return message.id == scene.trigger.get("messageId")


def resume_mark(resume: Resume) -> str:
    return f"← RESUME: {_how(resume)}. Continue from here."


def _answer_mark(resume: Resume, message_id: str) -> str:
    assert resume.answers is not None
    return f"← ANSWER {resume.answers.index(message_id) + 1} of {resume.need}"


def quotes(scene: Scene, text: str) -> str:
    """The messages that a text refers to, if the agent may read them (X12)."""
    found = [scene.quoted[named] for named in references(text) if named in scene.quoted]
    return "".join(f" (quotes msg:{message.id} by {message.sender.name}: {_quoted(message)})" for message in found)


def _quoted(message: Message) -> str:
    return quote_start(message.text, MAX_QUOTED) if message.deleted_by is None else deletion(message)


def tool_name(name: str) -> str:
    return name if _TOOL_NAME.fullmatch(name) else quote(name)


def _how(resume: Resume) -> str:
    if resume.tool is not None:
        return _how_asked(resume, tool_name(resume.tool))
    answered = f"{len(resume.answers or ())} of {resume.need} answered"
    if resume.status == "replied":
        return f"{resume.sender_name} replied" if resume.need == 1 else answered
    if resume.status == "withdrawn":
        return f"withdrawn, your question was deleted{f', {answered}' if resume.answers is not None else ''}"
    if resume.reason == "deadlock":
        return "timeout (deadlock: everyone who could answer was waiting, too)"
    if resume.reason == "left":
        return f"{resume.left} left this space, {answered}{_missing(resume)}"
    if resume.answers is not None:
        return f"timeout, {answered}{_missing(resume)}"
    return f"timeout, nobody replied within {resume.seconds} s"


def _missing(resume: Resume) -> str:
    return f" (no answer from {', '.join(resume.missing)})" if resume.missing else ""


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
    """For `[SEEN]` or `[NEW]` (C1, C3). The trigger is always new, even if another run has seen it."""
    assert scene.active is not None
    if message.sender.id == scene.agent.id:
        return "SEEN"
    return "NEW" if message.seq > scene.active.cursor or is_trigger(scene, message) else "SEEN"


def _content(scene: Scene, message: Message) -> str:
    if message.kind == "tool" and message.tool is not None:
        return "".join([tool_use(message.tool), *file_marks(message)])
    if message.deleted_by is not None:
        return deletion(message)
    text = "".join(
        [*([_text(message.text)] if message.text or not message.files else []), *file_marks(message)]
    ).strip()
    if message.reply_to:
        text += f" (in reply to msg:{message.reply_to})"
    if message.stopped_by:
        text += f" (unfinished: stopped by {_plain_name(str(message.stopped_by.get('name')))})"
    return text + quotes(scene, message.text) if scene.quoted else text


def file_marks(message: Message) -> list[str]:
    """A mark for each file. File names are not validated like the names of members."""
    return [f" {file_mark(each)}" for each in message.files or ()]


def file_mark(file: Mapping[str, Any]) -> str:
    """As in `[file: report.pdf, 120 KB, application/pdf, file:fil_1]` (L5)."""
    size = size_text(int(file.get("bytes") or 0))
    return f"[file: {_plain_name(str(file.get('name')))}, {size}, {file.get('mediaType')}, file:{file.get('id')}]"


def _text(text: str) -> str:
    """Shortened: fifty messages of the maximum length would not fit any model. The TRIGGER block has more of it."""
    return quote(text if len(text) <= MAX_TEXT else shorten_text(text, MAX_TEXT))


def tool_use(tool: Mapping[str, Any]) -> str:
    if tool.get("ui"):
        return _card(tool)
    outcome = "running" if tool.get("status") == "running" else quote_json(tool.get("output"))
    failed = "error: " if tool.get("status") == "error" else ""
    return f"used tool {tool_name(str(tool.get('name')))} {quote_json(tool.get('input'))} → {failed}{outcome}"


def _card(tool: Mapping[str, Any]) -> str:
    """A question to people, and their answer."""
    if tool.get("ask"):
        return _ask(tool)
    asked = "asked for permission to use tool" if tool.get("purpose") == "permission" else "asked people with tool"
    who = tool.get("answeredBy") or {}
    by = f"{_plain_name(str(who.get('name')))}: " if who else ""
    outcome = "not answered yet" if tool.get("status") == "running" else f"{by}{quote_json(tool.get('output'))}"
    return f"{asked} {tool_name(str(tool.get('name')))} {quote_json(tool.get('input'))} → {outcome}"


def _ask(tool: Mapping[str, Any]) -> str:
    """A program's question to members (D5)."""
    given, ask = tool.get("input") or {}, tool["ask"]
    options = f" (options: {quote_json(given['options'])})" if given.get("options") else ""
    answers = [f"{_plain_name(str(each['by']['name']))}: {quote_json(each['result'])}" for each in ask["answers"]]
    how = " (reply to it to answer)" if ask["kind"] in ("text", "choice") else ""
    if tool.get("status") == "error":
        outcome = f"ended without an answer ({quote_json((tool.get('output') or {}).get('status'))})"
    elif tool.get("status") == "running":
        outcome = f"{len(answers)} of {ask['need']} answered{how}"
    else:
        outcome = "answered"
    return f"asked {quote(str(given.get('question')))}{options} → {'; '.join([outcome, *answers])}"


def why_sent(scene: Scene, message: Message) -> str | None:
    """Why an agent sent this (F6). None if the reader may not read the space that caused it."""
    if message.origin is None:
        return None
    origin = message.origin
    if "kind" in origin:
        return _because_of_event(origin, message.sender.id == scene.agent.id and not scene.limited)
    name = next((space.name for space in scene.spaces if space.id == origin.get("sourceSpace")), None)
    if name is None:
        return None
    who, text = _asked(scene, origin)
    if not (isinstance(who, str) and isinstance(text, str)):
        return f"sent because of a message in {quote(name)}"
    return f"sent because {_plain_name(who)} asked {quote_start(text, MAX_QUOTED)} in {quote(name)}"


def _because_of_event(origin: Mapping[str, Any], named: bool) -> str:
    """The name of a plan or service may be private to its agent, or to another person (G3)."""
    kind = _EVENTS.get(str(origin["kind"]), "an event")
    name = origin.get("name")
    return f"sent because of {kind}{f' {quote(str(name))}' if name and named else ''}"


def _asked(scene: Scene, origin: Mapping[str, Any]) -> tuple[Any, Any]:
    """Sender and text: of the message itself, or else as the sending run recorded them."""
    source = scene.quoted.get(str(origin.get("sourceEvent")))
    if source is not None:
        return (source.sender.name, source.text) if source.deleted_by is None else (None, None)
    return origin.get("sourceSender"), origin.get("sourceText")


def _plain_name(name: str) -> str:
    """A name in an origin or a card is not validated."""
    return name if _PLAIN_NAME.fullmatch(name) and bare(name) == name else quote(name)
