"""Decides whether an event is for this agent, and what to do about it."""

from __future__ import annotations

from majlis.models.demo.reminder import reminder_steps
from majlis.models.demo.rules import GREETING, RULES, otherwise, remark
from majlis.models.demo.say import Step, say, unaddressed
from majlis.models.demo.welcome import welcome_steps
from majlis.models.outline import Seen, names

# A demo agent answers an agent that answers a person, and no agent further down the chain.
_DEEPEST = 1


def steps_for(seen: Seen) -> list[Step]:
    """All steps of the run."""
    match seen.trigger.type:
        case "plan":
            return reminder_steps(seen)
        case "service":
            return welcome_steps(seen)
        case "space_message":
            return _about_message(seen)
    return []


def _about_message(seen: Seen) -> list[Step]:
    if seen.trigger.depth > _DEEPEST or not _is_for_me(seen):
        return []
    if _is_from_agent(seen):
        return [say(seen, remark(seen))]
    text = unaddressed(seen.trigger.text)
    for rule in RULES:
        found = rule.pattern.search(text)
        if found:
            return rule.steps(seen, found)
    return otherwise(seen)


def _is_for_me(seen: Seen) -> bool:
    """Of several demo agents in a space, one answers a person's message."""
    if _is_from_agent(seen):
        # Agents also name each other in passing ("Try @Ba hello").
        begins_with_my_name = names(seen.trigger.text[: len(seen.name) + 2], seen.name)
        return begins_with_my_name or _may_join_in(seen)
    return seen.named or seen.name == _addressee(seen)


def _is_from_agent(seen: Seen) -> bool:
    return seen.trigger.sender is not None and seen.trigger.sender.type == "agent"


def _may_join_in(seen: Seen) -> bool:
    """A greeting is for all agents. Any message would end another agent's wait for a reply."""
    greeting = GREETING.search(seen.trigger.text) is not None
    return greeting and not seen.trigger.expects_reply and not _spoke_already(seen)


def _spoke_already(seen: Seen) -> bool:
    """Since the last message of a person."""
    for line in reversed(seen.history):
        if line.type == "human":
            return False
        if line.sender == seen.name:
            return True
    return False


def _addressee(seen: Seen) -> str | None:
    """The agent that a person's message without my name is for: the one that asked the question just before, or else
    the first by name. None if the message names another agent."""
    others = seen.other_agents
    if any(names(seen.trigger.text, name) for name in others):
        return None
    before = seen.history[-1] if seen.history else None
    if before is not None and before.sender in (seen.name, *others) and before.text.rstrip().endswith("?"):
        return before.sender
    return min([seen.name, *others], key=str.casefold)
