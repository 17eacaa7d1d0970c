"""The history: messages in order, with this run's calls between them (X4, X10, M10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from majlis.agents.config.config import AgentConfig
from majlis.clock import Millis, iso
from majlis.minds.quote import MAX_JSON, quote, quote_json, quote_start
from majlis.minds.timeline.lines import marks, message_line, resume_mark, stamp, tool_name
from majlis.minds.timeline.scene import Action, ActiveSpace, Message, Scene

# The call that the run waited for is shown in full: no tool result is longer.
MAX_AWAITED = 64 * 1024
# Calls from before the window: how many are named, and how many characters of the input and the outcome of each.
MAX_OLDER = 200
MAX_OLDER_JSON = 120
_UNKNOWN = "outcome unknown: the call was interrupted; check before you repeat it"


def heading(active: ActiveSpace) -> str:
    return f"SPACE HISTORY ({quote(active.name)}):"


def omission(scene: Scene, active: ActiveSpace) -> list[str]:
    """X10: how many messages before the window are not shown. The trigger is always shown."""
    if active.total == 0:
        return ["  (no messages yet)"]
    start = window_start(scene.config, active.total)
    left_out = start - 1 - sum(message.seq < start for message in scene.history)
    if left_out <= 0:
        return []
    said = "1 earlier message is" if left_out == 1 else f"{left_out} earlier messages are"
    return [f"  (… {said} not shown; call read_messages with offset to read {'it' if left_out == 1 else 'them'})"]


def settled(scene: Scene) -> int:
    """The number up to which lines stay the same in later runs: seen, before the trigger, and not sent by this run."""
    if scene.active is None:
        return 0
    special = {action.message_id for action in scene.actions}
    special |= {scene.trigger.get("messageId"), scene.resume.message_id if scene.resume else None}
    first = min((message.seq for message in scene.history if message.id in special), default=scene.active.total + 1)
    return min(scene.active.cursor, first - 1)


def timeline(scene: Scene, messages: Sequence[Message]) -> list[str]:
    """The messages and, sorted in by time, this run's other calls; last, how the wait ended. Calls within the same
    millisecond keep their order."""
    posting = {action.message_id: (n, action) for n, action in enumerate(scene.actions) if action.message_id}
    shown = {message.id for message in scene.history}
    numbers = {id(action): n for n, action in enumerate(scene.actions)}
    others = sorted((a for a in scene.actions if a.message_id not in shown), key=lambda action: action.at)
    waited_for = awaited(scene)
    recent, older = _split(scene, others, waited_for)
    lines = _older_calls(older)
    for message in messages:
        number, action = posting.get(message.id, (0, None))
        while recent and (recent[0].at, numbers[id(recent[0])]) < (message.created_at, number):
            before = recent.pop(0)
            lines.append(action_line(before, room_for(before, waited_for)))
        posted = posted_line(scene, action, message, room_for(action, waited_for)) if action else None
        lines.append(posted or message_line(scene, message))
    rest = (action_line(action, room_for(action, waited_for)) for action in recent)
    return [*lines, *rest, *_own_resume_line(scene, shown)]


def this_run_block(scene: Scene) -> str | None:
    """This run's calls if there is no active space, and so no history."""
    if scene.active is not None:
        return None
    lines = timeline(scene, ())
    return "\n".join(["THIS RUN SO FAR:", *lines]) if lines else None


def _split(scene: Scene, actions: list[Action], waited_for: Action | None) -> tuple[list[Action], list[Action]]:
    """Calls that are shown in full, and older ones that are shortened. A call with an unknown outcome, and the one that
    the run waited for, are always shown in full."""
    since = _window_begins(scene)
    first = max(0, len(actions) - scene.config.window)
    recent: list[Action] = []
    older: list[Action] = []
    for index, action in enumerate(actions):
        kept = action.state == "started" or action is waited_for or (action.at >= since and index >= first)
        (recent if kept else older).append(action)
    return recent, older


def _window_begins(scene: Scene) -> Millis:
    if scene.active is None:
        return 0
    start = window_start(scene.config, scene.active.total)
    in_window = (message.created_at for message in scene.history if message.seq >= start)
    return next(in_window, 0) if start > 1 else 0


def _own_resume_line(scene: Scene, shown: set[str]) -> list[str]:
    """For a timeout, and for an answer that is not in view: there is no message line to mark."""
    if scene.resume is None or scene.resume.message_id in shown:
        return []
    return [f"  {resume_mark(scene.resume)}"]


def window_start(config: AgentConfig, total: int) -> int:
    """The number of the first message in view.

    `classic` shows the last `window` messages. `stable` moves in steps of half a window, so that the prompt's prefix
    stays the same for many runs (X8); it shows between half a window and a whole one."""
    if config.layout == "classic":
        return max(1, total - config.window + 1)
    return stepped_start(config, total)


def stepped_start(config: AgentConfig, total: int) -> int:
    half = half_window(config)
    blocks_left_out = -(-max(0, total - config.window) // half)
    return blocks_left_out * half + 1


def half_window(config: AgentConfig) -> int:
    return config.window // 2


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
    return f"  {stored}[{iso(action.at)}] You: called {_call(action, most)}{where}{outcome}"


def _older_calls(actions: Sequence[Action]) -> list[str]:
    """Shortened, but each is named: a model that does not see what it has done does it again."""
    if not actions:
        return []
    counted, named = actions[:-MAX_OLDER], actions[-MAX_OLDER:]
    lines = ["  (earlier in this run you made these calls, shortened here)"]
    if counted:
        counts = Counter(tool_name(action.name) for action in counted)
        lines.append(f"  (before them: {', '.join(f'{name} × {count}' for name, count in sorted(counts.items()))})")
    return [*lines, *(action_line(action, MAX_OLDER_JSON) for action in named)]


def _waits(action: Action) -> bool:
    if action.name != "send_message":
        return True
    return isinstance(action.input, Mapping) and action.input.get("wait") is True


def _call(action: Action, most: int = MAX_JSON) -> str:
    given = action.input
    shortened = most < MAX_JSON
    if action.name != "send_message" or not isinstance(given, Mapping):
        limit = most if shortened else MAX_JSON
        return f"{tool_name(action.name)}({quote_json(given, limit, note=not shortened) if given else ''})"
    text = str(given.get("text", ""))
    parts = [quote_start(text, most) if shortened else quote(text)]
    if given.get("messageId") is not None:
        parts.append(f"messageId: {quote(str(given['messageId']))}")
    if given.get("wait") is True:
        parts.append("wait: true")
    return f"send_message({', '.join(parts)})"


def _outcome(action: Action, most: int) -> str:
    if action.state == "started":
        return f" → {_UNKNOWN}"
    return f" → {'error: ' if action.state == 'error' else ''}{quote_json(action.output, most, note=most >= MAX_JSON)}"
