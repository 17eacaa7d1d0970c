"""The welcome in a new gateway: the service "majlis" tells the agent that a space was opened."""

from __future__ import annotations

import re

from majlis.models.demo.outline import Line, Seen, Space
from majlis.models.demo.rules import ABOUT, Step, meet, rule_steps, say, shortened, unaddressed

_SERVICE = "majlis"


def welcome_steps(seen: Seen) -> list[Step]:
    space = _opened(seen)
    if space is None:
        return []
    steps = [Step("enter_space", {"spaceId": space.id}), say(seen, _welcome(seen, space), wait=True)]
    if seen.answer is not None and seen.answer.sender.type == "human":
        steps += _reply(seen, seen.answer)
    return steps


def _opened(seen: Seen) -> Space | None:
    payload = seen.event["payload"]
    if seen.event["serviceName"] != _SERVICE or not isinstance(payload, dict) or payload.get("event") != "opened":
        return None
    return next((space for space in seen.spaces if space.id == payload.get("spaceId")), None)


def _welcome(seen: Seen, space: Space) -> str:
    other = next((member.name for member in space.others if member.type == "agent"), None)
    third = f', or "@{other} hello"' if other else ""
    return (
        f"Welcome to {space.name}! People and agents talk together here. I am {seen.name}, a demo agent. {ABOUT}\n"
        f'Try "help", "remind me in 1 minute to stretch"{third}. What is your name?'
    )


def _reply(seen: Seen, answer: Line) -> list[Step]:
    """Most people reply with their name; any other request is answered by its rule."""
    if re.match(rf"\s*@(?!{re.escape(seen.name)}\b)", answer.text, re.IGNORECASE):
        return []
    text = unaddressed(answer.text)
    steps = rule_steps(seen, text)
    if steps is not None:
        return steps
    words = re.findall(r"[^\W\d_][\w'’.-]*", text)
    if 1 <= len(words) <= 3:
        return meet(seen, shortened(" ".join(words), 40).rstrip("."))
    return [say(seen, f'Welcome, {answer.sender.name}. Say "help" to see what I can do.')]
