"""The text of a message, and the role of its turn (R2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from majlis.minds.quote import quote, quote_start, references
from majlis.minds.roles.escape import escape
from majlis.minds.roles.scene import Scene
from majlis.minds.timeline.lines import MAX_QUOTED, MAX_TEXT, deletion, file_mark, tool_use, why_sent
from majlis.minds.timeline.scene import Message
from majlis.models.port import Said, System, Turn, User
from majlis.shorten import shorten_text

_ONLY_FILES = "=== THIS MESSAGE HAS NO TEXT, ONLY FILES; read_messages lists them ==="


def turn_of(scene: Scene, message: Message) -> Turn | None:
    """None for an empty message."""
    words = words_of(scene, message)
    if not words:
        return None
    if is_own(scene, message):
        return Said(words)
    if message.sender.type == "human":
        return User((_signed(message.sender.name, words) if several_people(scene) else words,))
    # Providers reject system messages between turns, and models read them as background. `portable` avoids both.
    signed = _signed(message.sender.name, words)
    return System(signed) if scene.common.config.projection == "seed" else User((signed,))


def missed_line(scene: Scene, message: Message) -> str:
    sender = message.sender
    if sender.type != "human":
        label = f"💬 {sender.name}"
    else:
        label = f"🟢 USER ({sender.name})" if several_people(scene) else "🟢 USER"
    return f"{label}: {words_of(scene, message)}"


def edits_after(scene: Scene, message: Message) -> list[str]:
    """Edits of messages that the agent had seen, at the place where they happened (L1)."""
    after = scene.common.edits.get(message.seq, ())
    edits = ((each.message, quote(shorten_text(each.text, MAX_TEXT))) for each in after)
    return [f"=== EDITED msg:{edited.id} by {edited.sender.name}: {text} ===" for edited, text in edits]


def trigger_turns(scene: Scene) -> list[Turn]:
    """The trigger in full, always as a user turn."""
    trigger = scene.common.trigger
    # Providers refuse an empty turn.
    files = _files(trigger.get("files"))
    said = escape(trigger["text"]) + files if trigger["text"].strip() else files.strip() or _ONLY_FILES
    words = said + _quotes(scene, trigger["text"])
    if trigger["senderId"] == scene.common.agent.id:
        # An orchestrator routed the agent's own message to it (R8).
        return [Said(words), User(("=== CONTINUE FROM HERE: this message was routed to you again ===",))]
    bare = trigger["senderType"] == "human" and not several_people(scene)
    return [User((words if bare else _signed(trigger["senderName"], words),))]


def is_own(scene: Scene, message: Message) -> bool:
    return message.sender.id == scene.common.agent.id


def words_of(scene: Scene, message: Message) -> str:
    if message.kind == "tool" and message.tool is not None:
        return tool_use(message.tool) + _files(message.files)
    if message.deleted_by is not None:
        return f"=== MESSAGE {deletion(message)} ==="
    files = _files(message.files)
    if not message.text.strip():
        return files.strip()
    stopped = f"\n=== UNFINISHED: STOPPED BY {message.stopped_by.get('name')} ===" if message.stopped_by else ""
    return _cut(message.text) + files + stopped + _quotes(scene, message.text) + _why(scene, message)


def _why(scene: Scene, message: Message) -> str:
    """Why a message was sent (F6). The turns of the agent itself have only its words."""
    if message.origin is None or is_own(scene, message):
        return ""
    because = why_sent(replace(scene.common, quoted=scene.quoted), message)
    return f"\n=== {because} ===" if because else ""


def _files(files: Sequence[Mapping[str, Any]] | None) -> str:
    return "".join(f"\n=== {file_mark(file)} ===" for file in files or ())


def several_people(scene: Scene) -> bool:
    """True if several people speak in the space now, or do so in the history."""
    if scene.place is not None and scene.place.several_people:
        return True
    trigger = scene.common.trigger
    people = {message.sender.id for message in scene.history if message.sender.type == "human"}
    return len(people | ({trigger["senderId"]} if trigger.get("senderType") == "human" else set())) > 1


def _signed(name: str, words: str) -> str:
    return f"[{name}]: {words}"


def _cut(text: str) -> str:
    """Fifty messages of the maximum length would not fit any model."""
    return escape(shorten_text(text, MAX_TEXT))


def _quotes(scene: Scene, text: str) -> str:
    """X12: the messages that a text refers to, if the agent may read them."""
    found = [scene.quoted[named] for named in references(text) if named in scene.quoted] if scene.quoted else []
    return "".join(
        f"\n=== QUOTED msg:{message.id} by {message.sender.name}: {_quoted(message)} ===" for message in found
    )


def _quoted(message: Message) -> str:
    return quote_start(message.text, MAX_QUOTED) if message.deleted_by is None else deletion(message)
