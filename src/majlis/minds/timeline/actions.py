"""Lines for the calls that this run made before (J2, M10), so that the model does not repeat them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from majlis.clock import iso
from majlis.minds.quote import MAX_JSON, quote, quote_json
from majlis.minds.timeline.lines import marks, stamp, tool_name
from majlis.minds.timeline.scene import Action, Message, Scene

# The call that the run waited for is shown in full: no tool result is longer.
MAX_AWAITED = 64 * 1024
_UNKNOWN = "outcome unknown: the call was interrupted; check before you repeat it"


def awaited(scene: Scene) -> Action | None:
    """The call that the run waited for."""
    if scene.resume is None:
        return None
    name = scene.resume.tool or "send_message"
    return next((action for action in reversed(scene.actions) if action.name == name and _waits(action)), None)


def room_for(action: Action, waited_for: Action | None) -> int:
    """How many characters of the outcome are shown."""
    return MAX_AWAITED if action is waited_for else MAX_JSON


def posted_line(scene: Scene, action: Action, message: Message, most: int = MAX_JSON) -> str:
    """The line of a call that posted a message. It replaces the message's own line."""
    outcome = "" if action.name == "send_message" else _outcome(action, most)
    return f"  {stamp(message)} You: called {_call(action)}{outcome}{marks(scene, message)}"


def action_line(action: Action, most: int = MAX_JSON) -> str:
    stored = f"[msg:{action.message_id}] " if action.message_id else ""
    where = f" in {quote(action.space_name)}" if action.space_name else ""
    outcome = "" if stored and action.name == "send_message" and action.state == "done" else _outcome(action, most)
    return f"  {stored}[{iso(action.at)}] You: called {_call(action)}{where}{outcome}"


def summary_line(actions: Iterable[Action]) -> str:
    counts = Counter(action.name for action in actions)
    listed = ", ".join(f"{tool_name(name)} × {count}" for name, count in sorted(counts.items()))
    return f"  (earlier in this run you made calls that are no longer shown: {listed})"


def _waits(action: Action) -> bool:
    if action.name != "send_message":
        return True
    return isinstance(action.input, Mapping) and action.input.get("wait") is True


def _call(action: Action) -> str:
    given = action.input
    if action.name != "send_message" or not isinstance(given, Mapping):
        return f"{tool_name(action.name)}({quote_json(given) if given else ''})"
    parts = [quote(str(given.get("text", "")))]
    if given.get("messageId") is not None:
        parts.append(f"messageId: {quote(str(given['messageId']))}")
    if given.get("wait") is True:
        parts.append("wait: true")
    return f"send_message({', '.join(parts)})"


def _outcome(action: Action, most: int) -> str:
    if action.state == "started":
        return f" → {_UNKNOWN}"
    return f" → {'error: ' if action.state == 'error' else ''}{quote_json(action.output, most)}"
