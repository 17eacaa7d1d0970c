"""What to do about a trigger: the steps of the whole run, of which the next is the one that was not yet taken."""

from __future__ import annotations

from majlis.models.demo.address import for_me
from majlis.models.demo.reminder import reminder_steps
from majlis.models.demo.rules import RULES, otherwise, remark
from majlis.models.demo.saying import say
from majlis.models.demo.welcome import welcome_steps
from majlis.models.seen import Seen, Step, unaddressed

# A chain of agents ends here: one remark about another agent's message, none about a remark.
_DEEPEST = 1
# What has to go well before the next step makes sense.
_PREPARING = ("set_plans", "set_memories")


def next_step(seen: Seen) -> Step | None:
    if seen.failed:
        return _after_failure(seen)
    steps = steps_for(seen)
    return steps[len(seen.done)] if len(seen.done) < len(steps) else None


def _after_failure(seen: Seen) -> Step | None:
    """Says so once, in place of what it had wanted to say."""
    if seen.done[-1] in _PREPARING and seen.active is not None:
        return say(seen, f"Sorry, that did not work: {seen.done[-1]} was refused.")
    return None


def steps_for(seen: Seen) -> list[Step]:
    match seen.trigger.type:
        case "plan":
            return reminder_steps(seen)
        case "service":
            return welcome_steps(seen)
        case "space_message":
            return _about_message(seen)
    return []


def _about_message(seen: Seen) -> list[Step]:
    trigger = seen.trigger
    if trigger.depth > _DEEPEST or not for_me(seen):
        return []
    if trigger.sender is not None and trigger.sender.type == "agent":
        return [say(seen, remark(seen))]
    text = unaddressed(trigger.text)
    for rule in RULES:
        found = rule.pattern.search(text)
        if found:
            return rule.steps(seen, found)
    return otherwise(seen)
