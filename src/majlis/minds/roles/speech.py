"""What one message says, and as whose turn (R2)."""

from __future__ import annotations

from majlis.minds.quote import quote_start
from majlis.minds.roles.escape import harmless
from majlis.minds.roles.scene import Scene
from majlis.minds.timeline.lines import MAX_QUOTED, MAX_TEXT, tool_use
from majlis.minds.timeline.message_links import references
from majlis.minds.timeline.scene import Message
from majlis.models.port import Said, System, Turn, User


def turn_of(scene: Scene, message: Message) -> Turn | None:
    """None for a message without words."""
    words = words_of(scene, message)
    if not words:
        return None
    if is_own(scene, message):
        return Said(words)
    if message.sender.type == "human":
        return User((_signed(message.sender.name, words) if several_people(scene) else words,))
    # Providers refuse system messages between turns, and models take them for background: hence `portable`.
    signed = _signed(message.sender.name, words)
    return System(signed) if scene.common.config.projection == "seed" else User((signed,))


def missed_line(scene: Scene, message: Message) -> str:
    """As in the block of what was missed."""
    sender = message.sender
    if sender.type != "human":
        label = f"💬 {sender.name}"
    else:
        label = f"🟢 USER ({sender.name})" if several_people(scene) else "🟢 USER"
    return f"{label}: {words_of(scene, message)}"


def trigger_turns(scene: Scene) -> list[Turn]:
    """Whole, as the run keeps it. Always a user's turn: it is what the agent is to answer."""
    trigger = scene.common.trigger
    words = harmless(trigger["text"]) + _quotes(scene, trigger["text"])
    if trigger["senderId"] == scene.common.agent.id:
        # Routed to the one who has just spoken (R8).
        return [Said(words), User(("=== GO ON FROM HERE: this has been routed to you again ===",))]
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
    """Also when one of two has left meanwhile: what was said by whom must stay clear."""
    if scene.place is not None and scene.place.several_people:
        return True
    trigger = scene.common.trigger
    people = {message.sender.id for message in scene.history if message.sender.type == "human"}
    return len(people | ({trigger["senderId"]} if trigger.get("senderType") == "human" else set())) > 1


def _signed(name: str, words: str) -> str:
    return f"[{name}]: {words}"


def _cut(text: str) -> str:
    """Fifty messages of the greatest length would fill any model's window. The trigger is whole."""
    if len(text) <= MAX_TEXT:
        return harmless(text)
    said = f"=== CUT: the first {MAX_TEXT} of {len(text)} characters; read_messages has all ==="
    return f"{harmless(text[:MAX_TEXT])}\n{said}"


def _quotes(scene: Scene, text: str) -> str:
    """X12: what a text points to, if the agent may read it."""
    found = [scene.quoted[named] for named in references(text) if named in scene.quoted] if scene.quoted else []
    return "".join(
        f"\n=== QUOTED msg:{message.id} by {message.sender.name}: {quote_start(message.text, MAX_QUOTED)} ==="
        for message in found
    )
