"""Scenes of the roles mind: the agents Designer and DataAnalyst with Husam in "Project Alpha"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from majlis.minds.roles.perceive import perceive
from majlis.minds.roles.scene import Place, Routing, Scene
from majlis.minds.timeline.scene import ActiveSpace, Message, Who
from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Prompt
from tests.minds.scenes import ALPHA, ANALYST, config, in_alpha, message, trigger_of

Said = tuple[Who, str]
TIMES = "=== TIMES of the messages"


def scene(*said: Said, since: int | None = None, **more: Any) -> Scene:
    """The last message triggers DataAnalyst, which has seen those up to `since`. Fields of `Place` and of a config go
    there, the rest to the scene."""
    messages = tuple(message(seq, *each) for seq, each in enumerate(said, 1))
    return asked(messages[:-1], messages[-1], since=since, **more)


def asked(history: tuple[Message, ...], trigger: Message, since: int | None = None, **more: Any) -> Scene:
    of_place = {name: more.pop(name) for name in list(more) if name in Place.__slots__}
    of_config = {name: more.pop(name) for name in list(more) if name in ("projection", "instructions", "window")}
    place = Place(ALPHA.id, ALPHA.name, trigger.seq, since, **of_place)
    common = replace(
        in_alpha((trigger,), config=config(mind="roles", **of_config)),
        trigger=trigger_of(trigger),
        active=ActiveSpace(ALPHA.id, ALPHA.name, trigger.seq, since or 0, phase=of_place.get("phase")),
        history=(),
        agent=more.pop("agent", ANALYST),
    )
    return Scene(common, place, history, **more)


def turns(scene: Scene) -> list[tuple[str, str]]:
    """Everything after the system message, as (role, text), without the times of the messages."""
    first, *rest = chat_messages(Prompt(perceive(scene).turns))
    assert first["role"] == "system"
    return [(turn["role"], turn["content"]) for turn in rest if not turn["content"].startswith(TIMES)]


def routed(routing: Routing, *said: Said) -> Scene:
    return replace(scene(*said), routing=routing)
