"""Whether a message is for this agent: of several demo agents in a space, one answers and the others listen."""

from __future__ import annotations

from majlis.models.demo.rules import GREETING
from majlis.models.seen import Seen, names


def for_me(seen: Seen) -> bool:
    if seen.trigger.sender is not None and seen.trigger.sender.type == "agent":
        return _begins_with_my_name(seen) or _may_join_in(seen)
    return seen.named or seen.name == _meant(seen)


def _begins_with_my_name(seen: Seen) -> bool:
    """Agents name each other in passing as well ("Try @Ba hello")."""
    return names(seen.trigger.text[: len(seen.name) + 2], seen.name)


def _may_join_in(seen: Seen) -> bool:
    """A greeting is for everyone; an answer to a question that another agent waits for is not mine to give."""
    greeting = GREETING.search(seen.trigger.text) is not None
    return greeting and not seen.trigger.expects_reply and not _spoke_already(seen)


def _spoke_already(seen: Seen) -> bool:
    """Since a person last spoke."""
    for line in reversed(seen.history):
        if line.type == "human":
            return False
        if line.sender == seen.name:
            return True
    return False


def _meant(seen: Seen) -> str | None:
    """The agent that a person speaks to without saying its name: the one that has just asked something, or else the
    one whose name comes first, so that they do not all answer. None if the person names another one."""
    others = [member.name for member in seen.active.others if member.type == "agent"] if seen.active else []
    if any(names(seen.trigger.text, name) for name in others):
        return None
    before = seen.history[-1] if seen.history else None
    if before is not None and before.sender in (seen.name, *others) and before.text.rstrip().endswith("?"):
        return before.sender
    return min([seen.name, *others], key=str.casefold)
