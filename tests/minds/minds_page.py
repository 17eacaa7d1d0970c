"""The examples of docs/minds.md: one conversation as each mind shows it to the same agent.

`python -m tests.minds.minds_page` writes them into the page.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from majlis.minds.consciousness.perceive import perceive as wake
from majlis.minds.consciousness.remember import lived
from majlis.minds.consciousness.scene import Cycle, Past, Waking
from majlis.minds.roles.perceive import perceive as converse
from majlis.minds.roles.scene import Scene as Conversation
from majlis.minds.timeline.perceive import perceive as look
from majlis.minds.timeline.scene import ActiveSpace, OwnSpace, Scene
from majlis.minds.view import View
from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Call, Prompt, Result, Said, Turn
from tests.minds.roles.scenes import asked
from tests.minds.scenes import ANALYST, DESIGNER, HUSAM, NOW, config, history, in_alpha, trigger_of

PAGE = Path(__file__).parents[2] / "docs" / "minds.md"
_FENCE = re.compile(r"```text (\S+)\n(.*?)```", re.DOTALL)
_RULES = re.compile(r"(INSTRUCTIONS:\n)(?:  - .*\n?)+")
_ALPHA = OwnSpace("spc_alpha", "Project Alpha", "member", (DESIGNER, HUSAM))
SAID = history(
    (HUSAM, "Let's finish the Q4 report."),
    (DESIGNER, "I have updated the charts."),
    (HUSAM, "@DataAnalyst what was the revenue?"),
    (ANALYST, "4.2 million."),
    (HUSAM, "@Designer put it on the first page"),
    (DESIGNER, "Done. Net or gross?"),
    (HUSAM, "@Designer net"),
    (DESIGNER, "Changed.\nPage one says: net."),
    (HUSAM, "Good. We send it on Thursday."),
    (HUSAM, "@DataAnalyst please check it once more"),
)
# The agent has answered the third message and has not been triggered since.
_KNOWN = 4


def drawn() -> dict[str, str]:
    """Every example by name."""
    conversation = "".join(f"{n:2}  {each.sender.name}: {json.dumps(each.text)}\n" for n, each in enumerate(SAID, 1))
    return {
        "conversation": conversation,
        "timeline-stable": _shown(look(_timeline())),
        "timeline-classic": _shown(look(_timeline(layout="classic"))),
        "roles-portable": _shown(converse(_roles())),
        "roles-seed": _shown(converse(_roles(projection="seed"))),
        "consciousness": _shown(wake(_waking())),
    }


def on_page(text: str) -> dict[str, str]:
    return dict(_FENCE.findall(text))


def write() -> None:
    examples = drawn()
    text = _FENCE.sub(lambda found: f"```text {found[1]}\n{examples[found[1]]}```", PAGE.read_text("utf-8"))
    PAGE.write_text(text, "utf-8")


def _timeline(**settings: Any) -> Scene:
    return in_alpha(SAID, cursor=_KNOWN, config=config(**settings), spaces=(_ALPHA,))


def _roles(**settings: Any) -> Conversation:
    scene = asked(SAID[:-1], SAID[-1], since=_KNOWN, **settings)
    return replace(scene, common=replace(scene.common, spaces=(_ALPHA,)))


def _waking() -> Waking:
    """The past is the cycle in which it answered; the inbox has the later events."""
    mind = config(mind="consciousness")
    world = Scene(NOW, ANALYST, mind, "run_this", {"type": "cycle"}, None, False, spaces=(_ALPHA,))
    first = wake(Waking(replace(world, now=SAID[2].created_at), None, (trigger_of(SAID[2]),))).turns[1:]
    entered = {"success": True, "spaceId": _ALPHA.id, "spaceName": _ALPHA.name, "history": "…", "totalMessages": 3}
    reach = {"wakes": ["Designer"], "notWoken": [], "hopsLeft": 4}
    sent = {"success": True, "messageId": SAID[3].id, "status": "delivered", **reach}
    turns: list[Turn] = [
        *first,
        Said("", (Call("call_1", "enter_space", f'{{"spaceId":"{_ALPHA.id}"}}'),)),
        Result("call_1", "enter_space", json.dumps(entered, ensure_ascii=False)),
        Said("", (Call("call_2", "send_message", json.dumps({"text": SAID[3].text})),)),
        Result("call_2", "send_message", json.dumps(sent)),
        Said("I told Husam that the revenue was 4.2 million."),
    ]
    kept = lived(turns, Past())
    recent = (Cycle(1, kept.messages, kept.summary, kept.tokens),)
    standing = ActiveSpace(_ALPHA.id, _ALPHA.name, len(SAID), _KNOWN)
    return Waking(world, standing, (trigger_of(SAID[9]),), Past(), recent)


def _shown(view: View) -> str:
    return "\n".join(_turn(turn) for turn in chat_messages(Prompt(view.turns)))


def _turn(turn: dict[str, Any]) -> str:
    """Without the rules: they are the same in every conversation, and on the page of each mind."""
    text = _RULES.sub(r"\1  - …\n", turn["content"] or "")
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in turn.get("tool_calls", ())]
    return "\n".join([f"―― {turn['role']} ――", *([text.rstrip("\n")] if text else []), *calls]) + "\n"


if __name__ == "__main__":
    write()
