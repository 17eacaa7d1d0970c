"""The history: messages in order, with this run's calls between them (X4, X10, M10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from majlis.agents.config.config import AgentConfig
from majlis.clock import Millis, iso
from majlis.minds import summaries
from majlis.minds.quote import MAX_JSON, quote, quote_json, quote_start
from majlis.minds.timeline.lines import edit_lines, marks, message_line, resume_mark, stamp, tool_name
from majlis.minds.timeline.scene import Action, ActiveSpace, Asked, Message, Scene, Summary

# The call that the run waited for is shown in full: no tool result is longer.
MAX_AWAITED = 64 * 1024
# Calls from before the window: how many are named, and how many characters of the input and the outcome of each.
MAX_OLDER = 200
MAX_OLDER_JSON = 120
_UNKNOWN = "outcome unknown: the call was interrupted; check before you repeat it"
_HELD = "held: this message was not posted"


def heading(active: ActiveSpace) -> str:
    return f"SPACE HISTORY ({quote(active.name)}):"


def omission(scene: Scene, active: ActiveSpace) -> list[str]:
    """X10: how many messages before the window are not shown. The trigger is always shown."""
    if active.total == 0:
        return ["  (no messages yet)"]
    start = first_in_view(scene, active)
    left_out = start - 1 - sum(message.seq < start for message in scene.history)
    left_out -= sum(each.last - each.first + 1 for each in _settled_summaries(scene, active))
    if left_out <= 0:
        return []
    said = "1 earlier message is" if left_out == 1 else f"{left_out} earlier messages are"
    return [f"  (… {said} not shown; call read_messages with offset to read {'it' if left_out == 1 else 'them'})"]


def earlier(scene: Scene, active: ActiveSpace) -> list[str]:
    """F3: summaries of messages before the window."""
    return [f"  {summaries.line(each)}" for each in _settled_summaries(scene, active)]


def late_summaries(scene: Scene) -> str | None:
    """Summaries that were made since the window moved (F3)."""
    if scene.active is None or not scene.active.summaries:
        return None
    found = summaries.late(scene.active, first_in_view(scene, scene.active), _moving(scene), scene.active.total)
    return "\n".join(map(summaries.line, found)) if found else None


def unsummarised(scene: Scene) -> tuple[tuple[str, int], ...]:
    first = first_in_view(scene, scene.active) if scene.active else 1
    return summaries.missing(scene.active, first) if scene.active and first > 1 else ()


def _settled_summaries(scene: Scene, active: ActiveSpace) -> list[Summary]:
    if not active.summaries:
        return []
    return summaries.settled(active, first_in_view(scene, active), _moving(scene), active.total)


def _moving(scene: Scene) -> summaries.Start | None:
    return None if scene.config.layout == "classic" else partial(window_start, scene.config)


def settled(scene: Scene) -> int:
    """The number up to which lines stay the same in later runs: seen, before the trigger, and not sent by this run."""
    if scene.active is None:
        return 0
    special = {action.message_id for action in scene.actions}
    special.add(scene.trigger.get("messageId"))
    if scene.resume is not None:
        special |= {scene.resume.message_id, *(scene.resume.answers or ())}
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
        own = action is not None and message.deleted_by is None
        posted = posted_line(scene, action, message, room_for(action, waited_for)) if action and own else None
        lines += [posted or message_line(scene, message), *edit_lines(scene, message)]
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
    start = first_in_view(scene, scene.active)
    in_window = (message.created_at for message in scene.history if message.seq >= start)
    return next(in_window, 0) if start > 1 else 0


def _own_resume_line(scene: Scene, shown: set[str]) -> list[str]:
    """For a timeout, and for an answer that is not in view: there is no message line to mark."""
    if scene.resume is None or scene.resume.message_id in shown:
        return []
    return [f"  {resume_mark(scene.resume)}"]


def first_in_view(scene: Scene, active: ActiveSpace) -> int:
    return scene.first_seq or window_start(scene.config, active.total)


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
    """Shortens the calls, but names each one: a model that does not see what it has done does it again."""
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
    return isinstance(action.input, Mapping) and action.input.get("wait") not in (None, False)


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
    if given.get("wait") not in (None, False):
        parts.append(f"wait: {quote_json(given['wait'])}")
    return f"send_message({', '.join(parts)})"


def _outcome(action: Action, most: int) -> str:
    if action.state == "started":
        return f" → {_UNKNOWN}"
    if most < MAX_JSON and action.was_held:
        return f" → {_HELD}"
    return f" → {'error: ' if action.state == 'error' else ''}{quote_json(action.output, most, note=most >= MAX_JSON)}"


def asked_block(scene: Scene) -> str | None:
    """F4: the space that a resumed run was asked in, if it is active in another one now: the trigger with the messages
    around it. What this run has sent there is among its calls."""
    asked = scene.asked
    if asked is None:
        return None
    there = replace(scene, active=asked.space, history=asked.history, edits=asked.edits)
    sent = {action.message_id for action in scene.actions}
    lines = [f"ASKED IN ({quote(asked.space.name)}, id: {asked.space.id}):", *_earlier_there(asked)]
    for message in asked.history:
        lines += [] if message.id in sent else [message_line(there, message)]
        lines += edit_lines(there, message)
    return "\n".join([*lines, *_later_there(asked)])


def _earlier_there(asked: Asked) -> list[str]:
    return _count_of(asked.history[0].seq - 1 if asked.history else 0, "earlier")


def _later_there(asked: Asked) -> list[str]:
    return _count_of(asked.space.total - asked.history[-1].seq if asked.history else 0, "later")


def _count_of(count: int, which: str) -> list[str]:
    """How many messages beside those shown there are (X10)."""
    if count <= 0:
        return []
    return [f"  (… {count} {which} message{' is' if count == 1 else 's are'} not shown; read_messages shows more)"]
