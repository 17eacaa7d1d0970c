"""The text of a message, and the role of its turn (R2)."""

from __future__ import annotations

from majlis.minds.quote import quote_start, references
from majlis.minds.roles.escape import escape
from majlis.minds.roles.scene import Scene
from majlis.minds.timeline.lines import MAX_QUOTED, MAX_TEXT, tool_use
from majlis.minds.timeline.scene import Message
from majlis.models.port import Said, System, Turn, User


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


def trigger_turns(scene: Scene) -> list[Turn]:
    """The trigger in full, always as a user turn."""
    trigger = scene.common.trigger
    words = escape(trigger["text"]) + _quotes(scene, trigger["text"])
    if trigger["senderId"] == scene.common.agent.id:
        # An orchestrator routed the agent's own message to it (R8).
        return [Said(words), User(("=== CONTINUE FROM HERE: this message was routed to you again ===",))]
    bare = trigger["senderType"] == "human" and not several_people(scene)
    return [User((words if bare else _signed(trigger["senderName"], words),))]


def is_own(scene: Scene, message: Message) -> bool:
    return message.sender.id == scene.common.agent.id


def words_of(scene: Scene, message: Message) -> str:
    if message.kind == "tool" and message.tool is not None:
        return tool_use(message.tool)
    if not message.text.strip():
        return ""
    return _cut(message.text) + _quotes(scene, message.text)


def several_people(scene: Scene) -> bool:
    """Now, or in the history."""
    if scene.place is not None and scene.place.several_people:
        return True
    trigger = scene.common.trigger
    people = {message.sender.id for message in scene.history if message.sender.type == "human"}
    return len(people | ({trigger["senderId"]} if trigger.get("senderType") == "human" else set())) > 1


def _signed(name: str, words: str) -> str:
    return f"[{name}]: {words}"


def _cut(text: str) -> str:
    """Fifty messages of the maximum length would not fit any model."""
    if len(text) <= MAX_TEXT:
        return escape(text)
    note = f"=== CUT: the first {MAX_TEXT} of {len(text)} characters; read_messages has all ==="
    return f"{escape(text[:MAX_TEXT])}\n{note}"


def _quotes(scene: Scene, text: str) -> str:
    """X12: the messages that a text refers to, if the agent may read them."""
    found = [scene.quoted[named] for named in references(text) if named in scene.quoted] if scene.quoted else []
    return "".join(
        f"\n=== QUOTED msg:{message.id} by {message.sender.name}: {quote_start(message.text, MAX_QUOTED)} ==="
        for message in found
    )
