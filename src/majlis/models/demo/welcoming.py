"""The first words in a new gateway: its own service says that a space was opened, and the agent welcomes its people."""

from __future__ import annotations

import re

from majlis.models.demo.saying import say, shortened
from majlis.models.demo.seen import Line, Seen, Space, Step

_OURS = "majlis"
_INTRODUCTION = re.compile(r"^\W*(?:(?:hi|hello|hey)\W+)?(?:my name is|i am|i'm|it is|it's|call me|this is)\s+", re.I)


def welcome_steps(seen: Seen) -> list[Step]:
    space = _opened(seen)
    if space is None:
        return []
    steps = [Step("enter_space", {"spaceId": space.id}), say(seen, _welcome(seen, space), wait=True)]
    answer = seen.resume.answer if seen.resume else None
    if answer is not None and answer.type == "human":
        steps += _greet(seen, answer)
    return steps


def _opened(seen: Seen) -> Space | None:
    payload = seen.trigger.payload
    if seen.trigger.service != _OURS or not isinstance(payload, dict) or payload.get("event") != "opened":
        return None
    return next((space for space in seen.spaces if space.id == payload.get("spaceId")), None)


def _welcome(seen: Seen, space: Space) -> str:
    other = next((member.name for member in space.others if member.type == "agent"), None)
    third = f', or "@{other} hello"' if other else ""
    return (
        f"Welcome to {space.name}! Here people and agents share one conversation. I am {seen.name}, a demo agent: "
        "rules, not a language model.\n"
        f'Try "help", "remind me in 1 minute to stretch"{third}. And what is your name?'
    )


def _greet(seen: Seen, answer: Line) -> list[Step]:
    name = _name(answer)
    memory = {"key": f"name_of_{answer.sender}", "value": f"{answer.sender} is called {name}"}
    greeting = say(seen, f'Hello {name}, nice to meet you! I will remember your name. Say "help" whenever you like.')
    return [Step("set_memories", {"memories": [memory]}), greeting]


def _name(answer: Line) -> str:
    """Up to three words of the answer, or the name that the gateway knows."""
    words = re.findall(r"[^\W\d_][\w'’.-]*", _INTRODUCTION.sub("", answer.text))[:3]
    return shortened(" ".join(words), 40).rstrip(".") or answer.sender
